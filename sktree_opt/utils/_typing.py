"""Types of the public interface that have a name.

The literals are the keys of registries, and what parameter checks accept: ``tests/test_typing.py``
holds each signature against the checks of its estimator.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

# A table of rows; data frames are arrays to numpy's protocols.
TableLike: TypeAlias = ArrayLike | Sequence[Sequence[object]] | sparse.sparray | sparse.spmatrix
FloatMatrix: TypeAlias = NDArray[np.float32] | NDArray[np.float64]

GreedyCriterion: TypeAlias = Literal[
    "information_gain",
    "entropy",
    "log_loss",
    "gain_ratio",
    "above_average_gain_ratio",
    "gini",
    "gini_cost",
    "error",
]
NominalSplit: TypeAlias = Literal["multiway", "one_vs_rest", "subset"]
LeafObjectiveName: TypeAlias = Literal[
    "error", "balanced_error", "cost", "pessimistic_error", "gini", "entropy", "log_loss"
]
MetricName: TypeAlias = Literal["f1", "mcc", "g_mean"]
# Takes the weights of the false positives and the false negatives.
MetricLoss: TypeAlias = Callable[[float, float], float]
RankingCriterion: TypeAlias = Literal["error", "size", "depth"]
ClassRankingCriterion: TypeAlias = RankingCriterion | Literal["pessimistic_error"]
# Minimum weight of each class, for all or by label.
ClassMinima: TypeAlias = float | dict | None
TargetsName: TypeAlias = Literal["given", "forest"]
SearchName: TypeAlias = Literal["exact", "lookahead"]
ErrorName: TypeAlias = Literal["search", "training", "cross_validation", "bootstrap", "pessimistic"]
CategoricalFeatures: TypeAlias = Literal["from_dtype"] | ArrayLike | None
CategoricalSplit: TypeAlias = Literal["one_vs_rest", "subset"]
ClassWeight: TypeAlias = dict[Any, float] | dict[Any, int] | Literal["balanced"] | None
Label: TypeAlias = str | float | bool
FilePath: TypeAlias = str | PathLike[str]
RandomState: TypeAlias = int | np.random.RandomState | None


class Splitter(Protocol):
    """A cross-validation generator."""

    def split(self, X: Any, y: Any = ..., groups: Any = ...) -> Iterator[Any]:
        """Yield training and test rows."""

    def get_n_splits(self, X: Any = ..., y: Any = ..., groups: Any = ...) -> int:
        """Return the number of splits."""


CV: TypeAlias = int | Splitter | Iterable[tuple[ArrayLike, ArrayLike]] | None


# As of scikit-learn's GridSearchCV.
Scoring: TypeAlias = (
    str | Callable[..., Any] | Sequence[str] | set[str] | dict[str, str | Callable[..., Any]] | None
)


class Discretizer(Protocol):
    """A transformer that leaves ``thresholds_`` or ``bin_edges_``."""

    def fit(self, X: Any, y: Any, /) -> Any:
        """Find the cuts."""


Thresholds: TypeAlias = Literal["all", "quantile", "mdlp", "ensemble"] | int | Discretizer
RegressionThresholds: TypeAlias = Literal["all", "quantile", "ensemble"] | int | Discretizer


class FittedPipeline(Protocol):
    """A pipeline of scikit-learn."""

    steps: Any


class FittedSearch(Protocol):
    """A search for parameters that has refitted the best ones."""

    best_estimator_: Any


class FittedRuleList(Protocol):
    """A fitted ``RuleListClassifier``."""

    estimator_: Any
    rules_: Any
