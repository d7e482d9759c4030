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
from pathlib import Path

from sklearn.base import clone, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score

import sktree_opt
from sktree_opt.preprocessing._encoder import TableEncoder

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
            warnings.simplefilter("once")
            # The reports say themselves what a limit has ended.
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.showwarning = show_note
            args.command(args)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone, as `head` does.
        sys.stderr.close()
        return 0
    except (BadInputError, ValueError, TypeError, OSError) as error:
        print(f"sktree-opt: {one_line(error)}", file=sys.stderr)
        return EXIT_BAD_INPUT
    return 0


def show_note(message, *_, **__):
    """Print a warning as one line."""
    print(f"note: {one_line(message)}", file=sys.stderr)


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


def add_command(commands, name, function, text):
    """A sub-command with its help."""
    parser = commands.add_parser(name, help=text, description=text)
    parser.set_defaults(command=function)
    return parser


def add_table(parser):
    """Arguments of commands that learn from a table."""
    parser.add_argument("data", help="table: a .csv, .tsv or .parquet file")
    parser.add_argument("--target", required=True, help="column to predict")
    parser.add_argument("--weight", help="column of row weights")
    parser.add_argument("--drop", default="", help="columns to ignore, separated by commas")
    parser.add_argument(
        "--categorical", default="", help="columns of numbers that are categories, by commas"
    )
    parser.add_argument(
        "--time-limit", type=float, default=60.0, help="seconds for the search (default: 60)"
    )
    parser.add_argument("--task", choices=["auto", "classification", "regression"], default="auto")
    parser.add_argument(
        "--n-jobs", type=int, default=-1, help="threads; -1 for all cores (default: -1)"
    )


def add_fit(commands):
    """Arguments of ``fit``."""
    parser = add_command(commands, "fit", fit, "Find the best tree of a table, with proof.")
    add_table(parser)
    parser.add_argument("--max-depth", type=int, default=3, help="tests on a path (default: 3)")
    parser.add_argument("--max-leaf-nodes", type=int, help="number of leaves (default: no limit)")
    parser.add_argument("--min-samples-leaf", type=float, default=1, help="rows of every leaf")
    parser.add_argument("--complexity-cost", type=float, default=0.0, help="cost of each test")
    parser.add_argument("--objective", help="what is minimised (default: errors)")
    parser.add_argument(
        "--thresholds", default="all", help='"all", "quantile", "mdlp", "ensemble" or a number'
    )
    parser.add_argument("--cv", type=int, default=5, help="folds of the accuracy; 0 for none")
    parser.add_argument("--out", help="write the model as JSON")
    parser.add_argument("--html", help="write a page that draws the tree")
    parser.add_argument("--report", action="store_true", help="print rules and importances, too")


def add_predict(commands):
    """Arguments of ``predict``."""
    parser = add_command(commands, "predict", predict, "Answer for each row of a table.")
    parser.add_argument("model", help="JSON file that `fit --out` has written")
    parser.add_argument("data", help="table: a .csv, .tsv or .parquet file")
    parser.add_argument("--proba", action="store_true", help="add a column for each class")
    parser.add_argument("--out", help="write a .csv or .parquet file (default: print it)")


def add_explain(commands):
    """Arguments of ``explain``."""
    parser = add_command(commands, "explain", explain, "Say why a row gets its answer.")
    parser.add_argument("model", help="JSON file that `fit --out` has written")
    parser.add_argument("data", help="table: a .csv, .tsv or .parquet file")
    parser.add_argument("--row", type=int, default=0, help="number of the row, from 0 (default: 0)")
    parser.add_argument(
        "--change", action="store_true", help="show the smallest change that flips the answer"
    )
    parser.add_argument("--fixed", default="", help="columns that cannot change, by commas")


def add_select(commands):
    """Arguments of ``select``."""
    parser = add_command(
        commands, "select", select, "Find the features that a greedy tree should be given."
    )
    add_table(parser)
    parser.add_argument(
        "--method",
        choices=["elimination", "acceptable"],
        default="elimination",
        help="backward elimination (fast), or the smallest subset within --delta of the best one",
    )
    parser.add_argument("--delta", type=float, default=0.0, help="error above the best one")
    parser.add_argument("--seed", type=int, default=0, help="seed of the split (default: 0)")
    parser.add_argument("--out", help="write the table with the selected columns as CSV")


def add_enumerate(commands):
    """Arguments of ``enumerate``."""
    parser = add_command(
        commands, "enumerate", enumerate_trees, "Count the distinct trees over all feature subsets."
    )
    add_table(parser)
    parser.add_argument("--show", type=int, default=10, help="trees to list (default: 10)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the split (default: 0)")


# ---- tables --------------------------------------------------------------------------------------


def read_table(path):
    """A data frame; pandas or polars reads it, whichever is there."""
    path = Path(path)
    if not path.exists():
        raise BadInputError(f"{path} does not exist.")
    kind = path.suffix.lower()
    if kind not in (".csv", ".tsv", ".txt", ".parquet"):
        raise BadInputError(f"{path} is not a .csv, .tsv or .parquet file.")
    try:
        import pandas
    except ImportError:
        pandas = None
    try:
        if pandas is not None:
            if kind == ".parquet":
                return pandas.read_parquet(path)
            return pandas.read_csv(path, sep="\t" if kind == ".tsv" else ",")
        import polars
    except ImportError as error:
        raise BadInputError(
            f"{one_line(error)} (pip install pandas pyarrow reads all files)"
        ) from None
    except ValueError as error:
        hint = "" if kind == ".parquet" else " (a line of names and lines of values are expected)"
        if isinstance(error, UnicodeDecodeError):
            hint = " (save it in UTF-8)"
        raise BadInputError(f"{path} cannot be read: {one_line(error)}{hint}") from None
    if kind == ".parquet":
        return polars.read_parquet(path)
    separator = "\t" if kind == ".tsv" else ","
    return polars.read_csv(path, separator=separator, infer_schema_length=None)


def check_folder(path):
    """Refuse a file that cannot be written before a search begins."""
    if path and not Path(path).parent.is_dir():
        raise BadInputError(f"{path} cannot be written: there is no folder {Path(path).parent}.")


def columns_of(frame, text, option):
    """Names in a list separated by commas, which have to be columns."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        check_column(frame, name, option)
    return names


def check_column(frame, name, option):
    """Refuse the name of a column that is not there."""
    if name not in list(frame.columns):
        known = ", ".join(map(str, list(frame.columns)[:12]))
        more = ", ..." if len(frame.columns) > 12 else ""
        raise BadInputError(f"{option}: there is no column {name!r}; the table has {known}{more}.")


def training_table(args):
    """Table, target and weights of a command that learns."""
    frame = read_table(args.data)
    check_column(frame, args.target, "--target")
    gone = [args.target, *columns_of(frame, args.drop, "--drop")]
    if args.weight is not None:
        check_column(frame, args.weight, "--weight")
        gone.append(args.weight)
    rows = [name for name in frame.columns if name not in gone]
    if not rows:
        raise BadInputError("No column is left to learn from.")
    y = frame[args.target]
    keep = ~y.isna() if hasattr(y, "isna") else ~y.is_null()
    if not keep.all():
        n_missing = int((~keep).sum())
        print(f"{n_missing} rows without {args.target!r} are left out.", file=sys.stderr)
        frame = frame[keep] if hasattr(y, "isna") else frame.filter(keep)
    if len(frame) == 0:
        raise BadInputError(f"{args.data} has no row with a value of {args.target!r}.")
    weights = None if args.weight is None else frame[args.weight].to_numpy()
    return frame[rows], frame[args.target].to_numpy(), weights


def categorical_features(args, X):
    """The value of the parameter: the columns that are nominal by their type, and those named."""
    named = columns_of(X, args.categorical, "--categorical")
    if not named:
        return "from_dtype"
    encoder = TableEncoder("from_dtype")
    encoder.fit_transform(X)
    return sorted({*named, *(n for n, kind in zip(X.columns, encoder.kinds_) if kind == "nominal")})


# ---- commands ------------------------------------------------------------------------------------


def fit(args):
    """``sktree-opt fit``."""
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
    model, frame = read_model(args.model), read_table(args.data)
    X = columns_of_model(model, frame, args.data)
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


def columns_of_model(model, frame, path):
    """The columns of a frame that a model was fitted on, in its order."""
    names = [str(name) for name in getattr(model, "feature_names_in_", frame.columns)]
    missing = [name for name in names if name not in list(frame.columns)]
    if missing:
        raise BadInputError(f"{path} lacks the columns {', '.join(missing)}.")
    return frame[names]


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
    frame = columns_of_model(model, read_table(args.data), args.data)
    if not 0 <= args.row < len(frame):
        raise BadInputError(f"--row must be between 0 and {len(frame) - 1}, got {args.row}.")
    row = frame[args.row : args.row + 1]
    print(sktree_opt.explain(model, row))
    if args.change:
        fixed = columns_of(frame, args.fixed, "--fixed")
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
        kept = read_table(args.data)[[*names, args.target]]
        as_csv = kept.write_csv() if hasattr(kept, "write_csv") else kept.to_csv(index=False)
        write(args.out, as_csv)


def enumerate_trees(args):
    """``sktree-opt enumerate``."""
    X, y, weights = training_table(args)
    greedy = make_greedy(args, X, y)
    search = sktree_opt.DistinctTreeEnumerator(
        greedy, time_limit=args.time_limit, n_jobs=args.n_jobs, random_state=args.seed
    )
    trees = search.iter_trees(X, y, weights)
    n_found, best = 0, []
    for features, _ in trees:
        n_found += 1
        best.append((trees.error, [str(name) for name in features]))
        best = sorted(best, key=lambda pair: (pair[0], len(pair[1])))[: args.show]
    ended = "" if trees.status == "optimal" else f" before the search ended by {trees.status}"
    print(f"{n_found} distinct trees over {X.shape[1]} features{ended}. The best of them:")
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
            self.model.__dict__.pop("_skl_callbacks", None)

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
