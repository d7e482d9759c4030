"""The data: from the folder that SKTREE_OPT_DATA names, else from OpenML.

Sets from OpenML are kept in the folder that ``sklearn.datasets.get_data_home`` names
(environment variable SCIKIT_LEARN_DATA). Without a network, a set that cannot be fetched is
reported as missing, and the others are used.
"""

import gzip
import warnings
from dataclasses import dataclass
from urllib.error import HTTPError

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.datasets import fetch_openml, get_data_home

import uci
from published.common import numbers
from sktree_opt import MDLPDiscretizer

# Names of 001's sets in the folder; None where it has none, or a part only.
UCI = {
    "Adult": "adult",
    "Letter": "letter",
    "Hypo": "hypothyroid",
    "Ionosphere": "ionosphere",
    "Soybean": "soybean",
    "Kr-vs-kp": "kr_vs_kp",
    "Anneal": "anneal_na_as_value",
    "Census": "census_income_kdd",
    "Spambase": "spambase",
    "Sonar": "sonar",
    "Optdigits": None,
    "Coil2000": None,
    "Clean1": "clean1",
    "Clean2": None,
    "Madelon": "madelon",
    "Isolet": None,
    "Gisette": None,
    "P53mutants": None,
    "Arcene": None,
    "Dexter": None,
}
# Parts of sets in the folder, used where OpenML cannot be reached.
PARTS = {
    "Isolet": "isolet_partial",
    "Arcene": "arcene_labelled200",
    "Dexter": "dexter_labelled600",
}


@dataclass(frozen=True)
class OnOpenML:
    """A set on OpenML."""

    data_id: int
    dropped: tuple = ()  # columns that name the rows
    one_class: bool = False  # the most frequent class against the others


OPENML = {
    "Optdigits": OnOpenML(28),
    "Coil2000": OnOpenML(46916),
    "Clean2": OnOpenML(1116, ("ID", "molecule_name", "conformation_name")),
    "Isolet": OnOpenML(300),
    "Gisette": OnOpenML(41026),
    "Arcene": OnOpenML(1458),
    "Dexter": OnOpenML(4136),
    # Sets of 004, cut by MDLP and turned into 0/1 columns as there.
    "letter": OnOpenML(6, one_class=True),
    "vehicle": OnOpenML(54, one_class=True),
    "primary-tumor": OnOpenML(171, one_class=True),
    "biodeg": OnOpenML(1494),
    "default_credit": OnOpenML(42477),
    "magic04": OnOpenML(1120),
    "Statlog_satellite": OnOpenML(182),
    "Statlog_shuttle": OnOpenML(40685),
    "australian": OnOpenML(40981),
    "cancer": OnOpenML(15),
    "colic": OnOpenML(25),
    "haberman": OnOpenML(43),
    "heart-statlog": OnOpenML(53),
    "hepatitis": OnOpenML(55),
    "Ionosphere": OnOpenML(59),
    "hungarian": OnOpenML(51),
    "new-throid": OnOpenML(40682),
    "promoters": OnOpenML(164),
}


class MissingSetError(Exception):
    """Neither the folder nor OpenML has a set."""


_failures = []  # the first failure of the network: no other set is tried after it


def fetch(name):
    """Features and classes of a set on OpenML."""
    if name not in OPENML:
        raise MissingSetError(f"{name}: not in {uci.FOLDER}, and OpenML has no copy that we know.")
    known, home = OPENML[name], get_data_home()
    failed = (
        f"{name}: not in {uci.FOLDER}, and data set {known.data_id} of OpenML could not be fetched"
    )
    if _failures:
        raise MissingSetError(f"{failed} ({_failures[0]}).")
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "A network error", UserWarning)
            found = fetch_openml(data_id=known.data_id, data_home=home, n_retries=1)
    except (OSError, ValueError) as error:
        reason = f"{type(error).__name__}: {error}"
        # Neither a number that OpenML does not know nor a damaged file speaks of the network.
        if isinstance(error, OSError) and not isinstance(error, HTTPError):
            _failures.append(reason)
        raise MissingSetError(
            f"{failed} ({reason}). Run this once with a network: the set is kept in {home}."
        ) from error
    # OpenML's sparse files come as matrices.
    X = pd.DataFrame(found.data.toarray()) if issparse(found.data) else found.data
    X = X.drop(columns=[column for column in known.dropped if column in X])
    y = np.unique(np.asarray(found.target, dtype=str), return_inverse=True)[1]
    if known.one_class:
        y = (y == np.bincount(y).argmax()).astype(np.int64)
    return X, y


def load_raw(name):
    """Features and class codes of a set of 001, by its name there."""
    local = UCI.get(name, name)
    if local is not None and list((uci.FOLDER / "uci").glob(f"{local}.csv*")):
        return uci.load(local)
    try:
        X, y = fetch(name)
    except MissingSetError:
        part = PARTS.get(name)
        if part is None or not list((uci.FOLDER / "uci").glob(f"{part}.csv*")):
            raise
        X, y = uci.load(part)
    rows, columns = (int(cell) for cell in numbers("jmlr2019", "sets")[name].values())
    if X.shape != (rows, columns):
        print(f"{name}: {X.shape[0]} x {X.shape[1]} here, {rows} x {columns} in the paper")
    return X, y


def sets_of(load, names):
    """Name, features and classes of each set; missing ones are printed."""
    for name in names:
        try:
            X, y = load(name)
        except MissingSetError as error:
            print(f"missing set {error}")
            continue
        yield name, X, y


def raw_sets(options, names, quick):
    """The sets of 001 that are asked for."""
    return sets_of(load_raw, options.sets or (quick if options.quick else names))


def raw_names(options, names, quick):
    """Names of the sets that can be loaded."""
    return [name for name, _, _ in raw_sets(options, names, quick)]


def binary_path(name):
    return uci.FOLDER / "binary" / f"{name}.txt.gz"


def all_binary_sets():
    """004's sets, and others in the folder that are like them."""
    in_folder = {path.name[: -len(".txt.gz")] for path in (uci.FOLDER / "binary").glob("*.txt.gz")}
    return sorted(in_folder | set(numbers("murtree", "sets")), key=str.lower)


def to_binary(X, y):
    """0/1 columns: numbers cut by MDLP, then a column for each interval and category."""
    X = X.copy()
    numeric = [c for c in X if pd.api.types.is_numeric_dtype(X[c])]
    if numeric:
        X[numeric] = MDLPDiscretizer().fit_transform(X[numeric].astype(float), y)
    return pd.get_dummies(X.astype("category"), dtype=np.uint8).to_numpy()


def load_binary(name):
    """0/1 columns and classes of a set of 004, and of sets like them."""
    if binary_path(name).exists():
        with gzip.open(binary_path(name), "rt") as file:
            table = np.loadtxt(file)
        return table[:, 1:].astype(np.uint8), table[:, 0].astype(np.int64)
    sparse = uci.FOLDER / "sparse" / f"{name.replace('-', '_')}.csv.gz"
    if sparse.exists():
        table = pd.read_csv(sparse).to_numpy()
        return table[:, :-1].astype(np.uint8), table[:, -1].astype(np.int64)
    X, y = fetch(name)
    return to_binary(X, y), y


def binary_sets(options, names, quick):
    """The sets of 004, and sets like them, that are asked for."""
    return sets_of(load_binary, options.sets or (quick if options.quick else names))
