"""The command line: fit, look at and use trees without writing a program.

``sktree-opt`` and ``python -m sktree_opt`` are the same. Each command is a function that takes the
parsed arguments and prints; ``main`` turns what goes wrong into one line and an exit code.
"""

import argparse
import csv
import io
import sys
import time
import warnings
from functools import partial
from pathlib import Path

from sklearn.base import clone, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score

import sktree_opt
from sktree_opt.preprocessing._encoder import TableEncoder
from sktree_opt.utils._compat import drop_callbacks

EXIT_BAD_INPUT = 1
EXIT_INTERRUPTED = 130

DESCRIPTION = "Exact decision trees for a table in a CSV or Parquet file."
EPILOG = """\
examples:
  sktree-opt fit loans.csv --target status --max-depth 3 --out loans.json --html loans.html
  sktree-opt predict loans.json new.csv --out answers.csv
  sktree-opt explain loans.json new.csv --row 0 --change
  sktree-opt select loans.csv --target status
  sktree-opt enumerate loans.csv --target status --show 5

exit codes:
  0  the command succeeded; a time limit that ends a search is not an error
  1  a file, a column or a value is wrong
  2  the command line is not understood
  130  Ctrl-C; `fit` writes the best tree found so far
"""

# A target of numbers with more distinct values than this is regressed on.
MAX_NUMERIC_CLASSES = 20


class BadInputError(Exception):
    """Something that the user can mend; its text is all that is shown."""


def main(argv=None):
    """Run a command.

    Parameters
    ----------
    argv : list of str or None, default=None
        The arguments; None for those of the process.

    Returns
    -------
    code : int
        The exit code.
    """
    args = make_parser().parse_args(argv)
    try:
        for path in (getattr(args, "out", None), getattr(args, "html", None)):
            check_folder(path)
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            # The reports say themselves what a limit has ended.
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.showwarning = Notes()
            args.command(args)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone, as `head` does.
        sys.stderr.close()
        return 0
    except OSError as error:
        # Without the number of the error.
        text = f"{error.filename}: {error.strerror}." if error.filename else one_line(error)
        print(f"sktree-opt: {text}", file=sys.stderr)
        return EXIT_BAD_INPUT
    except (BadInputError, ValueError, TypeError) as error:
        print(f"sktree-opt: {one_line(error)}", file=sys.stderr)
        return EXIT_BAD_INPUT
    return 0


class Notes:
    """Prints each warning as one line, once."""

    def __init__(self):
        self.shown = set()

    def __call__(self, message, *_, **__):
        """Print a warning that is new."""
        text = one_line(message)
        if text not in self.shown:
            print(f"note: {text}", file=sys.stderr)
        self.shown.add(text)


def one_line(error):
    """Text of an exception without line ends."""
    return " ".join(str(error).split()) or type(error).__name__


# ---- arguments -----------------------------------------------------------------------------------


def make_parser():
    """Parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="sktree-opt",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=sktree_opt.__version__)
    commands = parser.add_subparsers(required=True, metavar="command")
    add_fit(commands)
    add_predict(commands)
    add_explain(commands)
    add_select(commands)
    add_enumerate(commands)
    return parser


def add_command(commands, name, function, text, more):
    """A sub-command with its help."""
    parser = commands.add_parser(
        name,
        help=text,
        description=text,
        epilog=more,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(command=function)
    return parser


def add_option(parser, name, metavar, text, default=None, kind=str):
    """An option with a value."""
    parser.add_argument(name, metavar=metavar, help=text, default=default, type=kind)


def add_table(parser):
    """Arguments of commands that learn from a table."""
    parser.add_argument("data", help="table: a .csv, .tsv or .parquet file")
    parser.add_argument("--target", required=True, metavar="COLUMN", help="column to predict")
    add_option(parser, "--weight", "COLUMN", "column of row weights")
    add_option(parser, "--drop", "COLUMNS", "columns to ignore, separated by commas", "")
    text = "columns of numbers that are categories, such as zip codes, separated by commas"
    add_option(parser, "--categorical", "COLUMNS", text, "")
    text = "time of the search, which then hands over the best it has (default: 60)"
    add_option(parser, "--time-limit", "SECONDS", text, 60.0, float)
    parser.add_argument(
        "--task",
        choices=["auto", "classification", "regression"],
        default="auto",
        help=f"auto is regression for numbers with more than {MAX_NUMERIC_CLASSES} values",
    )
    add_option(parser, "--n-jobs", "N", "number of threads (default: all cores)", -1, int)


FIT_MORE = """\
It prints the tree, whether it is proved to be the best one, and its accuracy on new rows. Columns
of text are categories, and empty cells are missing values. If a search takes too long, use a
smaller --max-depth or "--thresholds ensemble". If a tree is too large, use --complexity-cost 0.01.

examples:
  sktree-opt fit loans.csv --target status --out loans.json --html loans.html
  sktree-opt fit loans.csv --target status --objective f1 --pos-label default
  sktree-opt fit prices.parquet --target price --max-depth 4 --time-limit 300
"""


def add_fit(commands):
    """Arguments of ``fit``."""
    text = "Find the best tree of a table, with proof."
    parser = add_command(commands, "fit", fit, text, FIT_MORE)
    add_table(parser)
    add_option(parser, "--max-depth", "N", "most tests on a path (default: 3)", 3, int)
    add_option(parser, "--max-leaf-nodes", "N", "most leaves (default: no limit)", None, int)
    text = "fewest rows of a leaf; a number below 1 is a share of all rows (default: 1)"
    add_option(parser, "--min-samples-leaf", "ROWS", text, 1, float)
    text = "share of the rows that each test has to save in errors (default: 0)"
    add_option(parser, "--complexity-cost", "SHARE", text, 0.0, float)
    text = (
        "error, balanced_error, f1, mcc, g_mean, gini or entropy for classes (default: error); "
        "squared_error or absolute_error for numbers (default: squared_error)"
    )
    add_option(parser, "--objective", "NAME", text)
    add_option(parser, "--pos-label", "CLASS", "the class that f1, mcc and g_mean are about")
    text = "tests of numbers: all, a number of quantiles, mdlp or ensemble (default: all)"
    add_option(parser, "--thresholds", "NAME", text, "all")
    text = "folds of the accuracy on new rows; 0 for none (default: 5)"
    add_option(parser, "--cv", "FOLDS", text, 5, int)
    add_option(parser, "--out", "FILE", "write the model as JSON, which predict and explain read")
    add_option(parser, "--html", "FILE", "write a page to click on")
    parser.add_argument("--report", action="store_true", help="print rules and importances, too")


def add_model(parser):
    """Arguments of commands that use a model."""
    parser.add_argument("model", help="JSON file that `fit --out` has written")
    parser.add_argument("data", help="table with the columns of the model, in any order")


PREDICT_MORE = """\
examples:
  sktree-opt predict loans.json new.csv
  sktree-opt predict loans.json new.parquet --proba --out answers.parquet
"""


def add_predict(commands):
    """Arguments of ``predict``."""
    text = "Answer for each row of a table."
    parser = add_command(commands, "predict", predict, text, PREDICT_MORE)
    add_model(parser)
    parser.add_argument("--proba", action="store_true", help="add a column for each class")
    add_option(parser, "--out", "FILE", "write a .csv or .parquet file (default: print it)")


EXPLAIN_MORE = """\
examples:
  sktree-opt explain loans.json new.csv --row 12
  sktree-opt explain loans.json new.csv --change --fixed age,housing
"""


def add_explain(commands):
    """Arguments of ``explain``."""
    text = "Say why a row gets its answer."
    parser = add_command(commands, "explain", explain, text, EXPLAIN_MORE)
    add_model(parser)
    add_option(parser, "--row", "N", "number of the row, from 0 (default: 0)", 0, int)
    parser.add_argument(
        "--change", action="store_true", help="show the smallest change that flips the answer"
    )
    add_option(parser, "--fixed", "COLUMNS", "columns that stay as they are, by commas", "")


SELECT_MORE = """\
Some rows are held back from growing the trees; their errors rate the subsets of columns.

examples:
  sktree-opt select loans.csv --target status --out fewer.csv
  sktree-opt select loans.csv --target status --method acceptable --delta 0.01
"""
SEED = "seed of the choice of rows held back (default: 0)"


def add_select(commands):
    """Arguments of ``select``."""
    text = "Find the features that a greedy tree should be given."
    parser = add_command(commands, "select", select, text, SELECT_MORE)
    add_table(parser)
    parser.add_argument(
        "--method",
        choices=["elimination", "acceptable"],
        default="elimination",
        help="backward elimination, which is fast and the default, or the smallest subset whose "
        "error is proved to be within --delta of the best one",
    )
    text = "share of errors above the best one, for acceptable (default: 0)"
    add_option(parser, "--delta", "SHARE", text, 0.0, float)
    add_option(parser, "--seed", "N", SEED, 0, int)
    add_option(parser, "--out", "FILE", "write the table with the selected columns as CSV")


ENUMERATE_MORE = """\
Subsets of features often give the same tree, which is counted once. Some rows are held back from
growing the trees; their errors rate them. The search ends for up to some twenty columns.

example:
  sktree-opt enumerate loans.csv --target status --show 5
"""


def add_enumerate(commands):
    """Arguments of ``enumerate``."""
    text = "Count the distinct trees over all feature subsets."
    parser = add_command(commands, "enumerate", enumerate_trees, text, ENUMERATE_MORE)
    add_table(parser)
    add_option(parser, "--show", "N", "number of trees to list (default: 10)", 10, int)
    add_option(parser, "--seed", "N", SEED, 0, int)


# ---- tables --------------------------------------------------------------------------------------


def read_table(path, choose):
    """A data frame; pandas or polars reads it, whichever is there.

    `choose` takes the names of all columns and returns those to keep. The others of a Parquet file
    are not read.
    """
    path = Path(path)
    if not path.exists():
        raise BadInputError(f"{path} does not exist.")
    kind = path.suffix.lower()
    if kind not in (".csv", ".tsv", ".txt", ".parquet"):
        raise BadInputError(f"{path} is not a .csv, .tsv or .parquet file.")
    if path.is_dir():
        raise BadInputError(f"{path} is a folder, not a table.")
    try:
        return read_frame(path, kind, choose)
    except ImportError as error:
        raise BadInputError(
            f"{one_line(error)} (pip install pandas pyarrow reads all files)"
        ) from None
    except (OSError, BadInputError):
        raise
    except Exception as error:  # pandas, polars and pyarrow each have their own
        hint = "" if kind == ".parquet" else " (a line of names and lines of values are expected)"
        if isinstance(error, UnicodeDecodeError):
            hint = " (save it in UTF-8)"
        raise BadInputError(f"{path} cannot be read: {one_line(error)}{hint}") from None


def read_frame(path, kind, choose):
    """The frame of pandas, or of polars where pandas is not installed."""
    separator = "\t" if kind == ".tsv" else ","
    try:
        import pandas
    except ImportError:
        import polars

        if kind == ".parquet":
            return polars.read_parquet(path, columns=choose(list(polars.read_parquet_schema(path))))
        frame = polars.read_csv(path, separator=separator, infer_schema_length=None)
    else:
        if kind == ".parquet":
            from pyarrow import parquet

            # Without the columns of an index.
            names = list(parquet.read_schema(path).empty_table().to_pandas().columns)
            return pandas.read_parquet(path, columns=choose(names))
        frame = pandas.read_csv(path, sep=separator)
    names = list(frame.columns)
    if len(names) == 1 and any(mark in names[0] for mark in ";\t|"):
        raise BadInputError(
            f"{path} has a single column, {names[0]!r}: separate columns by commas, or by tabs in "
            "a .tsv file, and write numbers with a decimal point."
        )
    return frame[choose(names)]


def check_folder(path):
    """Refuse a file that cannot be written before a search begins."""
    if path and not Path(path).parent.is_dir():
        raise BadInputError(f"{path} cannot be written: there is no folder {Path(path).parent}.")
    if path and Path(path).is_dir():
        raise BadInputError(f"{path} cannot be written: it is a folder.")


def columns_of(columns, text, option):
    """Names in a list separated by commas, which have to be columns."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        check_column(columns, name, option)
    return names


def check_column(columns, name, option):
    """Refuse the name of a column that is not there."""
    if name not in list(columns):
        known = ", ".join(map(str, columns[:12]))
        more = ", ..." if len(columns) > 12 else ""
        raise BadInputError(f"{option}: there is no column {name!r}; the table has {known}{more}.")


def columns_to_learn_from(args, columns):
    """Names of the target, of the weights, and of the features that are not dropped."""
    check_column(columns, args.target, "--target")
    gone = columns_of(columns, args.drop, "--drop")
    if args.weight is not None:
        check_column(columns, args.weight, "--weight")
    others = (args.target, args.weight)
    if all(name in (*others, *gone) for name in columns):
        raise BadInputError("No column is left to learn from.")
    return [name for name in columns if name in others or name not in gone]


def training_table(args):
    """Table, target and weights of a command that learns."""
    frame = read_table(args.data, partial(columns_to_learn_from, args))
    y = frame[args.target]
    keep = ~y.isna() if hasattr(y, "isna") else ~y.is_null()
    if not keep.all():
        n_missing = int((~keep).sum())
        print(f"{n_missing} rows without {args.target!r} are left out.", file=sys.stderr)
        frame = frame[keep] if hasattr(y, "isna") else frame.filter(keep)
    if len(frame) == 0:
        raise BadInputError(f"{args.data} has no row with a value of {args.target!r}.")
    weights = None if args.weight is None else frame[args.weight].to_numpy()
    if weights is not None and weights.dtype.kind not in "biuf":
        raise BadInputError(f"--weight: column {args.weight!r} does not hold numbers.")
    features = [name for name in frame.columns if name not in (args.target, args.weight)]
    return frame[features], frame[args.target].to_numpy(), weights


def categorical_features(args, X):
    """The value of the parameter: the columns that are nominal by their type, and those named."""
    named = columns_of(X.columns, args.categorical, "--categorical")
    if not named:
        return "from_dtype"
    encoder = TableEncoder("from_dtype")
    encoder.fit_transform(X)
    return sorted({*named, *(n for n, kind in zip(X.columns, encoder.kinds_) if kind == "nominal")})


# ---- commands ------------------------------------------------------------------------------------


def fit(args):
    """``sktree-opt fit``."""
    if args.cv < 0 or args.cv == 1:
        raise BadInputError(f"--cv must be 0 or at least 2, got {args.cv}.")
    X, y, weights = training_table(args)
    model = make_estimator(args, X, y)
    is_classifier = isinstance(model, sktree_opt.OptimalTreeClassifier)
    try:
        with ProgressLine(model):
            model.fit(X, y, weights)
    except KeyboardInterrupt:
        if hasattr(model, "tree_"):
            print("Stopped by Ctrl-C; this is the best tree found so far.", file=sys.stderr)
            report_fit(args, model, X, y)
        raise
    report_fit(args, model, X, y)
    if args.cv > len(y):
        print(f"No cross-validation: {len(y)} rows are too few for {args.cv} folds.")
    elif args.cv:
        print(score_text(args, model, X, y, weights, is_classifier))


def is_regression_task(args, y):
    """Whether the target is a number to be regressed on."""
    is_numeric = y.dtype.kind in "fiu"
    is_regression = args.task == "regression" or (
        args.task == "auto" and is_numeric and len(set(y.tolist())) > MAX_NUMERIC_CLASSES
    )
    if is_regression and not is_numeric:
        raise BadInputError(f"--task regression: column {args.target!r} does not hold numbers.")
    return is_regression


def make_estimator(args, X, y):
    """The unfitted estimator that the arguments ask for."""
    is_regression = is_regression_task(args, y)
    kind = sktree_opt.OptimalTreeRegressor if is_regression else sktree_opt.OptimalTreeClassifier
    params = {} if args.objective is None else {"objective": args.objective}
    if args.pos_label is not None and is_regression:
        raise BadInputError("--pos-label: a regression tree has no classes.")
    if args.pos_label is not None:
        params["pos_label"] = class_named(args.pos_label, y)
    whole = args.min_samples_leaf == int(args.min_samples_leaf)
    return kind(
        max_depth=args.max_depth,
        max_leaf_nodes=args.max_leaf_nodes,
        min_samples_leaf=int(args.min_samples_leaf) if whole else args.min_samples_leaf,
        complexity_cost=args.complexity_cost,
        thresholds=int(args.thresholds) if args.thresholds.isdigit() else args.thresholds,
        categorical_features=categorical_features(args, X),
        time_limit=args.time_limit,
        n_jobs=args.n_jobs,
        **params,
    )


def class_named(name, y):
    """The value of the target that is written like this."""
    classes = sorted(set(y.tolist()), key=str)
    for label in classes:
        if str(label) == name:
            return label
    known = ", ".join(map(str, classes[:MAX_NUMERIC_CLASSES]))
    raise BadInputError(f"--pos-label: there is no class {name!r}; the target has {known}.")


def report_fit(args, model, X, y):
    """Print a fitted tree and write the files that were asked for."""
    print(sktree_opt.export_text(model))
    print(proof_text(model))
    if args.report:
        print("\nRules:")
        for line in sktree_opt.export_rules(model, output="text").splitlines():
            print(f"  {line}")
        print("\nImportance of the features:")
        shares = zip(model.feature_importances_, X.columns)
        for share, name in sorted(shares, key=lambda pair: -pair[0]):
            if share > 0.0:
                print(f"  {share:6.1%}  {name}")
    if args.out:
        write(args.out, sktree_opt.to_json(model, indent=1))
    if args.html:
        write(args.html, sktree_opt.export_html(model, title=f"{args.target} ({args.data})"))


def proof_text(model):
    """One sentence about what is known of the tree."""
    seconds = model.search_stats_["seconds"]
    if model.status_ == "optimal":
        return (
            f"Proved in {seconds:.2g} s: no tree within these limits has an objective below "
            f"{model.objective_:.6g}."
        )
    return (
        f"Not proved ({model.status_}): the objective is {model.objective_:.6g}, and no tree "
        f"within these limits has one below {model.lower_bound_:.6g}."
    )


def score_text(args, model, X, y, weights, is_classifier):
    """One sentence about new rows, by cross-validation."""
    params = None if weights is None else {"sample_weight": weights}
    new = clone(model).set_params(time_limit=max(1.0, args.time_limit / args.cv))
    scores = cross_val_score(new, X, y, cv=args.cv, params=params)
    name = "Accuracy" if is_classifier else "R2"
    return (
        f"{name} on new rows by {args.cv}-fold cross-validation: {scores.mean():.3f} "
        f"(standard deviation {scores.std():.3f})."
    )


def read_model(path):
    """The tree in a JSON file."""
    try:
        text = Path(path).read_text("utf-8")
    except UnicodeDecodeError:
        raise BadInputError(f"{path} is not a text file.") from None
    try:
        return sktree_opt.from_json(text)
    except ValueError as error:
        raise BadInputError(f"{path} does not hold a tree: {one_line(error)}") from None


def predict(args):
    """``sktree-opt predict``."""
    model = read_model(args.model)
    X = columns_of_model(model, args.data)
    header, columns = ["prediction"], [model.predict(X).tolist()]
    if args.proba:
        if not hasattr(model, "classes_"):
            raise BadInputError("--proba: a regression tree has no classes.")
        header += [f"probability of {label}" for label in model.classes_]
        columns += model.predict_proba(X).T.tolist()
    if args.out:
        write_table(args.out, dict(zip(header, columns, strict=True)))
    else:
        sys.stdout.write(csv_text(header, zip(*columns, strict=True)))


def columns_of_model(model, path):
    """The columns of a table that a model was fitted on, in its order."""

    def choose(columns):
        names = [str(name) for name in getattr(model, "feature_names_in_", columns)]
        missing = [name for name in names if name not in columns]
        if missing:
            raise BadInputError(f"{path} lacks the columns {', '.join(missing)}.")
        return names

    return read_table(path, choose)


def csv_text(header, rows):
    """Rows of cells as CSV."""
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([header, *rows])
    return file.getvalue()


def write_table(path, columns):
    """Write columns by name as Parquet, if the name says so, or as CSV."""
    if Path(path).suffix.lower() != ".parquet":
        write(path, csv_text(list(columns), zip(*columns.values(), strict=True)))
        return
    try:
        from pyarrow import parquet, table
    except ImportError:
        raise BadInputError(f"{path} cannot be written: pip install pyarrow.") from None
    parquet.write_table(table(columns), path)
    print(f"Wrote {path}.", file=sys.stderr)


def explain(args):
    """``sktree-opt explain``."""
    model = read_model(args.model)
    frame = columns_of_model(model, args.data)
    if not 0 <= args.row < len(frame):
        raise BadInputError(f"--row must be between 0 and {len(frame) - 1}, got {args.row}.")
    row = frame[args.row : args.row + 1]
    print(sktree_opt.explain(model, row))
    if args.change:
        fixed = columns_of(frame.columns, args.fixed, "--fixed")
        print(sktree_opt.counterfactual(model, row, fixed=fixed))


def make_greedy(args, X, y):
    """The greedy tree whose features are selected."""
    is_regression = is_regression_task(args, y)
    kind = sktree_opt.GreedyTreeRegressor if is_regression else sktree_opt.GreedyTreeClassifier
    return kind(categorical_features=categorical_features(args, X))


def select(args):
    """``sktree-opt select``."""
    X, y, weights = training_table(args)
    params = {"time_limit": args.time_limit, "n_jobs": args.n_jobs, "random_state": args.seed}
    greedy = make_greedy(args, X, y)
    if args.method == "acceptable":
        selector = sktree_opt.AcceptableSubsetSelector(greedy, delta=args.delta, **params)
    else:
        selector = sktree_opt.DTsbeSelector(greedy, **params)
    selector.fit(X, y, sample_weight=weights)
    names = [str(name) for name in selector.get_feature_names_out()]
    print(f"{len(names)} of {X.shape[1]} features: {', '.join(names)}")
    kind = "Mean squared error" if is_regressor(selector) else "Error"
    print(f"{kind} on the rows held back: {selector.error_:.4g}. Search: {selector.status_}.")
    if args.out:
        kept = read_table(args.data, lambda _: [*names, args.target])
        as_csv = kept.write_csv() if hasattr(kept, "write_csv") else kept.to_csv(index=False)
        write(args.out, as_csv)


def enumerate_trees(args):
    """``sktree-opt enumerate``."""
    X, y, weights = training_table(args)
    greedy = make_greedy(args, X, y)
    search = sktree_opt.DistinctTreeEnumerator(
        greedy,
        error="search",
        time_limit=args.time_limit,
        n_jobs=args.n_jobs,
        random_state=args.seed,
    )
    trees = search.iter_trees(X, y, weights)
    n_found, best = 0, []
    for features, _ in trees:
        n_found += 1
        best.append((trees.error, [str(name) for name in features]))
        best = sorted(best, key=lambda pair: (pair[0], len(pair[1])))[: args.show]
    ended = "" if trees.status == "optimal" else f" before the search ended by {trees.status}"
    print(f"{n_found} distinct trees over {X.shape[1]} features{ended}.")
    print("The best of them, by their errors on the rows held back:")
    for error, names in best:
        print(f"  error {error:.4g}: {', '.join(names) or '(a single leaf)'}")


def write(path, text):
    """Write a file and say so."""
    Path(path).write_text(text, "utf-8")
    print(f"Wrote {path}.", file=sys.stderr)


class ProgressLine:
    """A callback of scikit-learn's that keeps one line of a terminal up to date."""

    def __init__(self, model):
        self.model, self.start = model, time.monotonic()
        self.is_shown = sys.stderr.isatty()

    def __enter__(self):
        if self.is_shown:
            self.model.set_callbacks(self)

    def __exit__(self, *_):
        if self.is_shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
            drop_callbacks(self.model)

    def setup(self, estimator, context):
        """Nothing to prepare."""

    def teardown(self, estimator, context):
        """Nothing to tidy up."""

    def on_fit_task_begin(self, estimator, context):
        """Say what the search works on."""
        seconds = time.monotonic() - self.start
        name = context.task_name
        print(f"\r\033[K{seconds:5.1f} s  {name}", end="", file=sys.stderr, flush=True)

    def on_fit_task_end(self, estimator, context, **_):
        """Go on."""
        return False


if __name__ == "__main__":
    sys.exit(main())
