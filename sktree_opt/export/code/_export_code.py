"""A tree as source code that needs no package: SQL, Python, JavaScript or C."""

from __future__ import annotations

from typing import Literal

from numpy.typing import ArrayLike

from sktree_opt.export._description import PARAMETER_CONSTRAINTS, ModelOrRules, describe
from sktree_opt.export.code._c import CWriter
from sktree_opt.export.code._procedures import JavaScriptWriter, PythonWriter
from sktree_opt.export.code._program import make_program, refuse_other_values
from sktree_opt.export.code._sql import sql_code
from sktree_opt.utils._compat import StrOptions, validate_params

# Each takes a Program, the Description that it was made from, and a name.
LANGUAGES = {
    "sql": sql_code,
    "python": lambda program, words, name: PythonWriter(program, name).code(),
    "javascript": lambda program, words, name: JavaScriptWriter(program, name).code(),
    "c": lambda program, words, name: CWriter(program, name).code(),
}


@validate_params(
    {
        "feature_names": PARAMETER_CONSTRAINTS["feature_names"],
        "language": [StrOptions(set(LANGUAGES))],
        "name": [str, None],
    },
    prefer_skip_nested_validation=True,
)
def export_code(
    model: ModelOrRules,
    *,
    language: Literal["sql", "python", "javascript", "c"] = "python",
    feature_names: ArrayLike | None = None,
    name: str | None = None,
) -> str:
    """Write a tree as source code that answers as ``predict`` and ``predict_proba`` do.

    The code needs neither this package nor any other. It treats missing values, and categories that
    fit never saw, as the tree does. The code does not check that a column has the type that it had
    in fit.

    Parameters
    ----------
    model : fitted tree estimator, Tree or fitted RuleListClassifier
        What to write. For a fitted pipeline or search, the tree or list at its end, which takes the
        columns that the earlier steps make.

    language : {"sql", "python", "javascript", "c"}, default="python"
        What to write:

        - "sql": a query that adds a column ``prediction``, and for a classifier one column
          ``probability_...`` for each class, to the rows of a table. NULL is a missing value. The
          query also adds the columns that it computes on the way, whose names begin with
          ``tree_``. It runs on SQLite, DuckDB and other databases;
        - "python": functions ``predict(row)`` and ``predict_proba(row)``. A row is a mapping from
          column names to values. None, NaN and an absent key are missing values;
        - "javascript": functions ``predict(row)`` and ``predict_proba(row)``. A row is an object.
          ``null``, ``undefined`` and ``NaN`` are missing values;
        - "c": C99 functions ``predict(&row)`` and ``predict_proba(&row, probabilities)`` and the
          struct ``predict_row``. ``predict`` returns the index of the class in
          ``predict_classes``. NAN and a null pointer are missing values.

    feature_names : array-like of str, default=None
        Names of the features; None for those seen in fit.

    name : str, default=None
        Name of the table (SQL) or of the function that predicts. None for "data" and "predict".

    Returns
    -------
    code : str
        The source code.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sktree_opt.export import export_code
    >>> from sktree_opt.optimal import OptimalTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = OptimalTreeClassifier(max_depth=1).fit(X[["petal length (cm)"]], y > 0)
    >>> functions = {}
    >>> exec(export_code(tree), functions)
    >>> functions["predict"]({"petal length (cm)": 1.5})
    False
    >>> print(export_code(tree, language="sql", name="flowers"))
    WITH tree_leaves AS (
      SELECT *, CASE
        WHEN "petal length (cm)" <= 2.0 THEN 1
        WHEN ("petal length (cm)" IS NULL OR "petal length (cm)" > 2.0) THEN 2
      END AS tree_leaf FROM "flowers"
    )
    SELECT *,
      CASE WHEN tree_leaf IN (1) THEN FALSE WHEN tree_leaf IN (2) THEN TRUE END AS prediction,
      CASE WHEN tree_leaf IN (1) THEN 1.0e0 WHEN tree_leaf IN (2) THEN 0.0e0 END
        AS "probability_False",
      CASE WHEN tree_leaf IN (1) THEN 0.0e0 WHEN tree_leaf IN (2) THEN 1.0e0 END
        AS "probability_True"
    FROM tree_leaves;
    """
    words = describe(model, feature_names, takes_rules=True)
    program = make_program(words)
    names = [program.names[j] for j in program.features]
    if len(set(names)) < len(names):
        raise ValueError("The features that the tree tests must have different names.")
    if program.is_distributed and getattr(words.model, "_answers", None) is not None:
        raise ValueError(
            "export_code cannot write a tree whose leaves answer by a metric and whose tests "
            "distribute missing values by weight."
        )
    for j, categories in program.categories.items():
        refuse_other_values(categories, f"The categories of column {program.names[j]!r}")
    refuse_other_values(program.labels or [], "The class labels")
    default = "data" if language == "sql" else "predict"
    if name is not None and language != "sql" and not (name.isidentifier() and name.isascii()):
        raise ValueError(f"name must be an identifier, got {name!r}.")
    return LANGUAGES[language](program, words, default if name is None else name)
