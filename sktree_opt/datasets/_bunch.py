"""What the loaders share: from named columns to what the caller asked for."""

import numpy as np
from sklearn.utils import Bunch


def make_bunch(columns, categories, target, *, target_names, description, return_X_y, as_frame):
    """Return a table in scikit-learn's manner.

    Parameters
    ----------
    columns : dict of str to list
        Values of each feature; None where missing.

    categories : dict of str to (list, bool)
        The categories of a nominal feature, and whether they are ordered.

    target : ndarray of shape (n_samples,)
        Class of each sample.

    target_names : list of str
        Name of each class.

    description : str
        Text about the data.

    return_X_y : bool
        Whether the caller wants only data and target.

    as_frame : bool
        Whether the data are to be a pandas DataFrame, which needs pandas.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch` or (data, target)
        What the loader returns.
    """
    frame = None
    if as_frame:
        frame = _make_frame(columns, categories, target)
        data, target = frame.drop(columns="target"), frame["target"]
    else:
        data = np.empty((len(target), len(columns)), dtype=object)
        for index, values in enumerate(columns.values()):
            data[:, index] = values
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        frame=frame,
        target_names=target_names,
        feature_names=list(columns),
        DESCR=description,
    )


def _make_frame(columns, categories, target):
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("as_frame=True needs pandas") from error

    frame = pd.DataFrame(columns)
    for name, (levels, ordered) in categories.items():
        frame[name] = pd.Categorical(frame[name], categories=levels, ordered=ordered)
    frame["target"] = target
    return frame
