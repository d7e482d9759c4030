"""Checks that every estimator's ``fit`` makes, and what they leave for the kernels."""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, validate_data

from sktree_opt.utils._compat import check_sample_weight, n_threads_for
from sktree_opt.utils._params import warn_user

# Quotients of the least number that are tried, and the highest multiple.
MOST_QUOTIENTS, MOST_MULTIPLES = 4096, 1e6
# The fourth power of a weight, times the square of a target, is still a float.
EXTREME_WEIGHT = 1e60
# What rounding decimal fractions leaves, as a share of the multiple.
ROUNDING = 1e-13


@dataclass
class TrainingData:
    """A checked training set: rows of weight zero are gone.

    Attributes
    ----------
    matrix : ndarray or CSC matrix of shape (n_rows, n_features)
        Floats; NaN is missing; categories are codes. With `keep_integers`, booleans or integers
        keep their type if no column has categories.

    y : ndarray of shape (n_rows,)
        Class codes (int32), or float64 targets.

    weights : ndarray of shape (n_rows,)
        Sample weights times class weights, float64.

    has_unit_weights : bool
        Whether all weights are 1.

    classes : ndarray or None
        Sorted labels; None for regression.

    encoder : TableEncoder
        Fitted; what ``predict`` uses.

    kept_rows : ndarray of intp, or slice(None)
        Rows of the user's table that are left.

    given_classes : ndarray or None
        Sorted labels with those of rows of weight zero.
    """

    matrix: object
    y: np.ndarray
    weights: np.ndarray
    has_unit_weights: bool
    classes: np.ndarray | None
    encoder: object
    kept_rows: object
    given_classes: np.ndarray | None = None


def check_training_data(
    estimator,
    encoder,
    X,
    y,
    sample_weight=None,
    *,
    class_weight=None,
    is_classifier,
    keep_integers=False,
):
    """Check `X`, `y` and weights of a fit, and encode them.

    Sets ``n_features_in_`` and ``feature_names_in_`` of `estimator`, nothing else. `encoder` is an
    unfitted ``TableEncoder``; it reads `X` before scikit-learn's checks do, since those refuse
    strings.
    """
    if y is None:
        # scikit-learn's own message, which names the estimator.
        validate_data(estimator, X=X, y=y, skip_check_array=False)
    n_threads = n_threads_for(estimator.n_jobs)
    matrix = encoder.fit_transform(X, keep_integers=keep_integers, n_threads=n_threads)
    check_shape(matrix, estimator)
    if not (type(y) is np.ndarray and y.ndim == 1 and len(y) == matrix.shape[0]):
        # scikit-learn's own messages.
        check_consistent_length(X, y)
    y, classes = check_classes(y) if is_classifier else (check_numbers(y, estimator), None)
    kept_rows, given_classes = slice(None), classes
    if sample_weight is None:
        weights = np.ones(len(y))
    else:
        weights, kept_rows = check_weights(sample_weight, matrix)
        if not isinstance(kept_rows, slice):
            matrix, y, weights = matrix[kept_rows], y[kept_rows], weights[kept_rows]
            if not sparse.issparse(matrix):
                encoder.forget_absent(matrix)
            if is_classifier:
                y, classes = only_present(y, classes)
    warn_of_identifiers(encoder)
    if is_classifier and class_weight is not None:
        check_class_weight(class_weight)
        weights = weights * compute_sample_weight(class_weight, classes[y])
        if not weights.any():
            raise ValueError("class_weight is zero for all classes in y.")
    is_weighted = sample_weight is not None or class_weight is not None
    set_names(estimator, X, encoder)
    return TrainingData(
        matrix=matrix,
        y=y,
        weights=weights,
        has_unit_weights=not is_weighted or bool((weights == 1.0).all()),
        classes=classes,
        encoder=encoder,
        kept_rows=kept_rows,
        given_classes=given_classes,
    )


def set_names(estimator, X, encoder):
    """Set ``n_features_in_`` and ``feature_names_in_`` as ``validate_data`` does."""
    names = encoder.column_names_
    if names is None and not (type(X) is np.ndarray and X.ndim == 2):
        validate_data(estimator, X, skip_check_array=True)
        return
    # To read the names again takes scikit-learn as long as fitting a small tree.
    estimator.n_features_in_ = len(encoder.feature_names_)
    if names is None:
        vars(estimator).pop("feature_names_in_", None)
    else:
        estimator.feature_names_in_ = np.asarray(names, dtype=object)


def warn_of_identifiers(encoder):
    """Warn of nominal columns whose values are nearly distinct."""
    names = [encoder.feature_names_[j] for j in encoder.identifiers_]
    if names:
        warn_user(
            f"The values of column {', '.join(map(repr, names))} are nearly distinct, as those of "
            "an identifier are: a tree learns nothing from them for new rows. Drop the column, "
            "join its categories, or make it a number. Greedy trees with a branch for each "
            "category do not split on it."
        )


def check_class_weight(class_weight):
    """Raise if a class weight is negative, infinite or not a number."""
    if not isinstance(class_weight, dict):
        return
    for label, factor in class_weight.items():
        if not isinstance(factor, Real) or not 0.0 <= factor < np.inf:
            raise ValueError(
                f"class_weight[{label!r}] is {factor!r}; a finite number from 0 on is expected."
            )


def checked_costs(cost_matrix, data):
    """Costs of the classes that have weight, out of those of all classes of `y`."""
    try:
        costs = np.asarray(cost_matrix, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"cost_matrix must be a square table of numbers: {error}") from None
    n_classes = len(data.given_classes)
    if costs.shape != (n_classes, n_classes):
        message = (
            f"cost_matrix must have shape {(n_classes, n_classes)} because y has {n_classes} "
            f"classes, got shape {costs.shape}."
        )
        if costs.shape[:1] > (n_classes,):
            message += (
                " In cross-validation, the training rows of a fold may lack a class: stratify the "
                "folds."
            )
        raise ValueError(message)
    if not np.isfinite(costs).all() or (costs < 0.0).any():
        raise ValueError("cost_matrix must hold finite numbers that are not negative.")
    present = np.isin(data.given_classes, data.classes)
    return costs[np.ix_(present, present)]


def refuse_extreme_weights(weights, least=0.0):
    """Raise if products of weights overflow, or if the largest is below `least`."""
    if not least <= weights.max() <= EXTREME_WEIGHT:
        raise ValueError(
            f"The largest of sample_weight times class_weight must be between {least:g} and "
            f"{EXTREME_WEIGHT:g}, got {weights.max():g}: scale the weights."
        )


def check_weights(sample_weight, matrix):
    """Weight of each row of a matrix, and which rows have one."""
    weights = as_weights(sample_weight, matrix)
    return weights, slice(None) if weights.all() else np.flatnonzero(weights)


def as_weights(sample_weight, X):
    """Weight of each row of `X` as an array; a number is the weight of every row."""
    try:
        if sample_weight is not None:
            # scikit-learn takes a float for every row, but no array of no dimension.
            sample_weight = np.asarray(sample_weight, dtype=np.float64)[()]
    except (OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"sample_weight must hold numbers: {error}.") from None
    return check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)


def common_divisor(numbers):
    """Largest common divisor of the positive numbers, up to rounding, if all quotients are small.

    Counted in it, sums of them are exact.

    Parameters
    ----------
    numbers : ndarray of float
        Not negative.

    Returns
    -------
    divisor : float or None
        None if there is none.
    """
    numbers = np.ravel(numbers)
    if len(numbers) and (numbers == numbers[0]).all():
        return float(numbers[0]) if numbers[0] > 0.0 else None
    positive = np.unique(numbers[numbers > 0.0])
    if len(positive) == 0:
        return None
    for quotient in range(1, MOST_QUOTIENTS + 1):
        divisor = positive[0] / quotient
        if positive[-1] / MOST_MULTIPLES > divisor:
            return None
        multiples = positive / divisor
        if np.all(np.abs(multiples - np.rint(multiples)) <= ROUNDING * multiples):
            return float(divisor)
    return None


def only_present(codes, classes):
    """Codes and labels without the classes that no row has: weight zero is absence."""
    present = np.unique(codes)
    return np.searchsorted(present, codes).astype(np.int32), classes[present]


def check_shape(matrix, estimator):
    """Refuse tables without rows or columns, in scikit-learn's words."""
    if min(matrix.shape) > 0:
        return
    check_array(
        matrix,
        accept_sparse=True,
        dtype=None,
        ensure_all_finite=False,
        estimator=estimator,
    )


def check_classes(y):
    """Class codes and sorted labels."""
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biu" and y.size:
        codes, classes = code_integers(y)
        # scikit-learn has a warning for y of more classes, else nothing to find in such an array;
        # its checks take as long as a search in a small table.
        if 2 * len(classes) <= len(y):
            return codes, classes
    refuse_missing_classes(y)
    y = column_or_1d(y, warn=True)
    assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    return codes.astype(np.int32), classes


def refuse_missing_classes(y):
    """Refuse None, NaN and NA among labels of any type, of which some cannot even be compared."""
    labels = y if isinstance(getattr(y, "dtype", None), np.dtype) else np.asarray(y, dtype=object)
    labels = np.asarray(labels)
    if labels.dtype.kind == "O" and any(map(is_missing, labels.ravel().tolist())):
        raise ValueError("Input y contains NaN, None or NA; each row needs a class.")


def is_missing(value):
    """Whether a cell is None, NaN or pandas' NA or NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def code_integers(y):
    """What ``np.unique`` gives, of integers in a short range without sorting them."""
    low, high = int(y.min()), int(y.max())
    if high - low > max(256, len(y)) or high >= 2**62:
        classes, codes = np.unique(y, return_inverse=True)
        return codes.astype(np.int32), classes
    from_low = y.astype(np.int64) - low
    is_class = np.bincount(from_low) > 0
    classes = (np.flatnonzero(is_class) + low).astype(y.dtype)
    return (np.cumsum(is_class) - 1).astype(np.int32)[from_low], classes


def check_numbers(y, estimator):
    """Targets of a regression."""
    y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", estimator=estimator)
    return column_or_1d(y, warn=True)


def encode_new_rows(estimator, X):
    """The float matrix of rows to predict; checks names and number of columns."""
    check_columns(estimator, X)
    return encode_rows(estimator, X)


def encode_rows(estimator, X):
    """The float matrix of rows whose columns have been checked."""
    matrix = estimator._encoder.transform(X)
    check_shape(matrix, estimator)
    if sparse.issparse(matrix):
        matrix = matrix.tocsr()
    return matrix


def rows_as_they_are(estimator, X):
    """`X` itself, if a check of its cells is all that its encoding can need; else None.

    Its columns have been checked.
    """
    matrix = estimator._encoder.as_it_is(X)
    if matrix is not None:
        check_shape(matrix, estimator)
    return matrix


def check_columns(estimator, X):
    """Refuse rows to predict that have not the columns of the table that was fitted."""
    refuse_other_containers(X)
    if getattr(X, "ndim", 2) != 2:
        # scikit-learn's own message about what a table is, before the one about its columns.
        check_array(X, dtype=None, ensure_all_finite=False, estimator=estimator)
    validate_data(estimator, X, reset=False, skip_check_array=True)


def refuse_other_containers(X):
    """Refuse what holds a table in a form that is not read, and say how to make one of it."""
    # One of scipy's sparse kinds is a mapping, too.
    if isinstance(X, Mapping) and not sparse.issparse(X):
        raise TypeError(
            f"X is a {type(X).__name__}, not a table; pandas.DataFrame(X) makes one of columns."
        )
    if isinstance(X, (list, tuple)) and len(X) and isinstance(X[0], Mapping):
        raise TypeError(
            f"X is a {type(X).__name__} of {type(X[0]).__name__}s, not a table; "
            "pandas.DataFrame(X) makes one of such rows."
        )
    if hasattr(X, "collect") and not hasattr(X, "__array__"):
        raise TypeError(
            f"X is a {type(X).__name__}, whose rows have not been computed yet; pass X.collect()."
        )
