"""The thresholds of numeric columns that an optimal tree may use: all of them, or chosen ones.

A choice is an object with `codes` and `scope`. `codes` lists, for each column of a table, the codes
after which it may be cut, in ascending order; the threshold is below the next value. None
means all. `scope` says in words what a proof over these thresholds is relative to. The array of a
nominal column is ignored. `control` is the clock of the fit: where it stops the choice, there are
fewer thresholds, and the search that follows proves nothing.
"""

from dataclasses import dataclass
from numbers import Integral

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from sktree_opt.preprocessing._discretizer import mdlp_codes


class AllThresholds:
    """A threshold between every two values of a column: nothing is left out."""

    scope = "every threshold between two values of a column"

    def codes(self, table, data, control=None):
        """Leave nothing out."""


@dataclass
class QuantileThresholds:
    """The thresholds nearest to the quantiles of a column, 10 unless a number is given."""

    n_thresholds: int = 10

    @property
    def scope(self):
        """The thresholds in words."""
        return f"up to {self.n_thresholds} quantiles of each column"

    def codes(self, table, data, control=None):
        """Cut where the weight below passes each quantile; between all values if these are few."""
        found = []
        for codes, values in zip(table.codes, table.values, strict=True):
            n_values = len(values)
            if n_values - 1 <= self.n_thresholds:
                found.append(np.arange(max(0, n_values - 1)))
                continue
            below = np.cumsum(np.bincount(codes, data.weights, minlength=n_values)[:n_values])
            shares = np.arange(1, self.n_thresholds + 1) / (self.n_thresholds + 1)
            places = np.searchsorted(below, shares * below[-1])
            found.append(np.unique(np.minimum(places, n_values - 2)))
        return found


class MdlpThresholds:
    """Where the classes change, by Fayyad and Irani's criterion (``MDLPDiscretizer``)."""

    scope = "the thresholds of each column by the MDL principle"

    def codes(self, table, data, control=None):
        """Cut each column for itself."""
        return mdlp_codes(table, data.y, data.weights, len(data.classes), control)


class EnsembleThresholds:
    """The thresholds of a small ensemble of boosted trees: 20 of depth 3.

    Each tree is fitted to what the ones before it leave of the class indicators, or of the target
    (boosting with squared loss), on at most 10,000 rows drawn at random, the same each time.
    """

    # McTavish et al., "Fast Sparse Decision Tree Optimization via Reference Ensembles", AAAI 2022.
    scope = "the thresholds of 20 boosted trees of depth 3"
    n_trees = 20
    max_depth = 3
    learning_rate = 0.3
    max_rows = 10_000

    def codes(self, table, data, control=None):
        """Cut where the trees do; they are fitted to ranks, which keeps every digit."""
        rng = np.random.default_rng(0)
        drawn = [np.arange(table.n_rows)] * self.n_trees
        if table.n_rows > self.max_rows:
            size = self.max_rows
            drawn = [rng.choice(table.n_rows, size, replace=False) for _ in drawn]
        # Rows that no tree is fitted to are left out.
        kept, places = np.unique(np.concatenate(drawn), return_inverse=True)
        ranks = np.empty((len(kept), table.n_columns), dtype=np.float32)
        for j, (codes, values) in enumerate(zip(table.codes, table.values, strict=True)):
            ranks[:, j] = np.where(codes[kept] < len(values), codes[kept], np.nan)
        rest = data.y[kept, np.newaxis].astype(np.float64)
        if data.classes is not None:
            rest = (rest == np.arange(len(data.classes))).astype(np.float64)
        rest -= self._mean(data)
        cuts = [set() for _ in range(table.n_columns)]
        for rows in places.reshape(self.n_trees, -1):
            if control is not None and control.poll():
                break
            tree = DecisionTreeRegressor(max_depth=self.max_depth, random_state=0)
            tree.fit(ranks[rows], rest[rows], sample_weight=data.weights[kept[rows]])
            rest -= self.learning_rate * tree.predict(ranks).reshape(rest.shape)
            tests = tree.tree_
            for feature, threshold in zip(tests.feature, tests.threshold, strict=True):
                if feature >= 0 and np.isfinite(threshold):
                    cuts[feature].add(int(threshold))
        return [
            within(np.array(sorted(found), dtype=np.int64), values)
            for found, values in zip(cuts, table.values, strict=True)
        ]

    def _mean(self, data):
        """What every tree of the ensemble begins with."""
        if data.classes is None:
            return np.average(data.y, weights=data.weights)
        shares = np.bincount(data.y, data.weights, minlength=len(data.classes))
        return shares / shares.sum()


@dataclass
class TransformerThresholds:
    """The thresholds of a transformer, in ``thresholds_`` or ``bin_edges_`` when it is fitted."""

    transformer: object

    @property
    def scope(self):
        """The thresholds in words."""
        return f"the thresholds of {type(self.transformer).__name__}"

    def codes(self, table, data, control=None):
        """Take the thresholds as they are, or fit a clone on the numbers of each numeric column."""
        try:
            check_is_fitted(self.transformer)
        except NotFittedError:
            return [self._fit_column(table, data, j) for j in range(table.n_columns)]
        columns = cuts_of(self.transformer)
        if len(columns) != table.n_columns:
            raise ValueError(
                f"thresholds was fitted on {len(columns)} columns, but X has {table.n_columns}."
            )
        return [
            codes_below(cuts, values) for cuts, values in zip(columns, table.values, strict=True)
        ]

    def _fit_column(self, table, data, j):
        codes, values = table.codes[j], table.values[j]
        present = codes < len(values)
        if table.is_nominal[j] or len(values) < 2:
            return np.empty(0, dtype=np.int64)
        params = {}
        if has_fit_parameter(self.transformer, "sample_weight"):
            params["sample_weight"] = data.weights[present]
        column = values[codes[present]][:, np.newaxis]
        y = data.y if data.classes is None else data.classes[data.y]
        fitted = clone(self.transformer).fit(column, y[present], **params)
        return codes_below(cuts_of(fitted)[0], values)


def cuts_of(transformer):
    """By column, (cuts, side): "right" if a value equal to a cut is below it, else "left"."""
    if hasattr(transformer, "thresholds_"):
        return [(np.asarray(cuts), "right") for cuts in transformer.thresholds_]
    if hasattr(transformer, "bin_edges_"):
        return [(np.asarray(edges)[1:-1], "left") for edges in transformer.bin_edges_]
    raise ValueError(
        f"thresholds={transformer!r} has neither thresholds_ nor bin_edges_ when it is fitted."
    )


def codes_below(cuts, values):
    """The code of the last value below each cut."""
    places, side = cuts
    return within(np.unique(np.searchsorted(values, places, side=side)) - 1, values)


def within(codes, values):
    """Those codes after which there is another value."""
    return codes[(codes >= 0) & (codes < len(values) - 1)]


THRESHOLDS = {
    "all": AllThresholds,
    "quantile": QuantileThresholds,
    "mdlp": MdlpThresholds,
    "ensemble": EnsembleThresholds,
}
# Those that do not look at classes.
REGRESSION_THRESHOLDS = {
    name: choice for name, choice in THRESHOLDS.items() if choice is not MdlpThresholds
}


def resolve_thresholds(thresholds):
    """The choice that a parameter names: a key of ``THRESHOLDS``, a number, or a transformer."""
    if isinstance(thresholds, str):
        return THRESHOLDS[thresholds]()
    if isinstance(thresholds, Integral):
        return QuantileThresholds(int(thresholds))
    return TransformerThresholds(thresholds)
