"""Follows each recipe of ``doc/extending.rst`` in a copy of the project.

A recipe is a list of changes. They must be in as many files as the page says, and those must be
enough: the project's own tests of the new entry have to pass in the copy.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sktree_opt
from tests.effort import long_test

ROOT = Path(__file__).parents[1]
TIME_LIMIT = 1200  # seconds of a program
pytestmark = pytest.mark.skipif(
    not (ROOT / "setup.py").exists() or Path(sktree_opt.__file__).parents[1] != ROOT,
    reason="needs a checkout of the project, built in place",
)

GREEDY = "sktree_opt/greedy/"
OPTIMAL = "sktree_opt/optimal/"
TYPING = "sktree_opt/utils/_typing.py"


def criterion(name, code, impurity):
    """Changes that add a criterion: its class, and its impurity in plain Python."""
    found = re.search(r"class (\w+)", code)
    return [
        (
            GREEDY + "_registries.py",
            "CLASSIFICATION_CRITERIA = {\n",
            f'{code}\n\n~~~    "{name}": {found[1]},\n',
        ),
        (TYPING, '    "gini_cost",\n', f'~~~    "{name}",\n'),
        (GREEDY + "_classifier.py", '"gini_cost", "error"', f'"{name}", ~~~'),
        (
            "tests/reference/naive_greedy_tree.py",
            '    if problem.criterion == "error":\n',
            f'    if problem.criterion == "{name}":\n        return {impurity}\n~~~',
        ),
    ]


def objective(name, code, cost):
    """Changes that add an objective: its class, and the cost of class weights in plain Python."""
    found = re.search(r"class (\w+)", code)
    place = OPTIMAL + "objectives/_leaf_objectives.py"
    return [
        (place, "OBJECTIVES = {\n", f'{code}\n\n~~~    "{name}": {found[1]}(),\n'),
        (TYPING, '    "error", "balanced_error"', f'    "{name}", "error", "balanced_error"'),
        (OPTIMAL + "estimators/_base.py", 'objective : {"error"', f'~~~, "{name}"'),
        (OPTIMAL + "estimators/_classifier.py", 'objective : {"error"', f'~~~, "{name}"'),
        (
            "doc/user_guide/optimal.rst",
            '   * - "gini"\n',
            f'   * - "{name}"\n     - a cost of the rows of each leaf\n~~~',
        ),
        (
            "tests/reference/brute_force_tree.py",
            "LEAF_COSTS = {\n",
            f"""def {name}_cost(rows, problem):
    sums = class_sums(rows, problem)
    return {cost}


~~~    "{name}": {name}_cost,
""",
        ),
    ]


# By the entry of the page's table: changes, each a file, text to look for, and what replaces it.
# "~~~" is the text that was looked for.
RECIPES = {
    "Criterion, of a measure that the kernel knows": criterion(
        "gini_gain_ratio",
        '''class GiniGainRatioCriterion(GiniCriterion):
    """Decrease of the Gini index, divided by the entropy of the split."""

    gain_ratio = True
''',
        "sum(p[k] * (1 - p[k]) for k in classes)",
    ),
    "Criterion, of a new measure": [
        *criterion(
            "cubes",
            '''class CubesCriterion(InformationGainCriterion):
    """Decrease of one less the sum of the cubes of the shares of the classes."""

    measure = _grow.MEASURES["cubes"]
''',
            "1 - sum(share**3 for share in p)",
        ),
        (
            GREEDY + "measures.hpp",
            "// Misclassification, eq. (2).\n",
            """// One less the sum of cubes.
template <bool WEIGHTED>
struct CubeMeasure : CountMeasure<CubeMeasure<WEIGHTED>, double, WEIGHTED>, RealScore {
    using Side = CountSide<double>;

    void before_change(Side& side, std::uint32_t c, double by) const {
        const double before = side.counts[c], after = before + by;
        side.sum += after * after * after - before * before * before;
    }
    double score(const Side& side) const {
        return side.n > 0.0 ? side.sum / side.n / side.n - side.n : 0.0;
    }
};

~~~""",
        ),
        (GREEDY + "evaluator.hpp", "enum class Measure : std::uint8_t { ", "~~~CUBE, "),
        (
            GREEDY + "evaluator.hpp",
            "        case Measure::GINI:\n",
            """        case Measure::CUBE:
            return make_evaluator_of<CubeMeasure>(context, rules, weighted);
~~~""",
        ),
        (GREEDY + "_grow.pxd", "        GINI_COST\n", "        CUBE\n~~~"),
        (GREEDY + "_grow.pyx", "MEASURES = {\n", '~~~    "cubes": <int> CppMeasure.CUBE,\n'),
    ],
    "Objective, of a score that the engines know": objective(
        "ranked_error",
        '''class RankedError(Error):
    """Weight of the misclassified rows, times the rank of their class."""

    def factors(self, class_weights):
        """Cost of an error on a row of weight 1 of each class."""
        return 1.0 + np.arange(len(class_weights))
''',
        "sum(sums) + sum(c * w for c, w in enumerate(sums))"
        " - max((c + 1) * w for c, w in enumerate(sums))",
    ),
    "Objective, of a new score": [
        *objective(
            "cubes",
            '''class Cubes:
    """One less the sum of the cubes of the shares of the classes, times the weight."""

    needs_costs = False

    def leaf_form(self, class_weights, weights, cost_matrix=None):
        """The objective for these data."""
        ones = np.ones(len(class_weights))
        least = least_weight(weights)
        return LeafObjective("cubes", ones, ones, loss_is_bounded=False, least_weight=least)

    def leaf_costs(self, values, class_weights, cost_matrix=None):
        """Cost of each leaf."""
        totals = values.sum(axis=1)
        return totals - (values**3).sum(axis=1) / np.where(totals > 0.0, totals, 1.0) ** 2
''',
            "sum(sums) - sum(w**3 for w in sums) / sum(sums) ** 2 if any(sums) else 0.0",
        ),
        (
            OPTIMAL + "objectives/objectives.hpp",
            "// Summed entropy in bits",
            """struct CubeScore {
    template <class Leaf, class Lane, class Both>
    static SKTREE_INLINE Pack<Lane> score(const PairCounts<Lane, Both>& n,
                                          const ScoreParameters<Lane>& p) {
        Pack<Lane> weight = Leaf::count(n, 0);
        Pack<Lane> cubes = weight * weight * weight;
        for (int c = 1; c < p.n_channels; ++c) {
            const Pack<Lane> count = Leaf::count(n, c);
            weight = weight + count;
            cubes = cubes + count * count * count;
        }
        return share(share(cubes, weight, p), weight, p);
    }
};

~~~""",
        ),
        (OPTIMAL + "objectives/scores.hpp", "ENTROPY, PESSIMISTIC, SQUARED", "~~~, CUBE"),
        (
            OPTIMAL + "objectives/_leaf_objectives.py",
            '"pessimistic", "squared")',
            '"pessimistic", "squared", "cubes")',
        ),
        (
            OPTIMAL + "bits/kernels/compile_bit_kernels.hpp",
            "        case Score::ENTROPY:\n",
            """        case Score::CUBE:
            find_kernels_of<CubeScore>(kernels);
            return true;
~~~""",
        ),
        (
            OPTIMAL + "tree_sets/leaf_costs.hpp",
            "            case Score::ENTROPY:\n",
            """            case Score::CUBE:
                return portable::CubeScore::score<Leaf>(leaves, parameters);
~~~""",
        ),
    ],
    "Metric of two classes": [
        (
            OPTIMAL + "objectives/_metrics.py",
            "# To add one:",
            '''def jaccard_loss(fp, fn, negatives, positives):
    """One minus the Jaccard index of the positive class."""
    return 1.0 - divide(positives - fn, positives + fp, 0.0)


~~~''',
        ),
        (OPTIMAL + "objectives/_metrics.py", "METRICS = {", '~~~"jaccard": jaccard_loss, '),
        (TYPING, 'Literal["f1", "mcc", "g_mean"', '~~~, "jaccard"'),
        (OPTIMAL + "estimators/_classifier.py", '"log_loss", "f1"', '~~~, "jaccard"'),
        ("doc/user_guide/optimal.rst", 'sums over leaves: "f1"', '~~~, "jaccard"'),
    ],
    "Choice of thresholds": [
        (
            "sktree_opt/preprocessing/_thresholds.py",
            "THRESHOLDS = {\n",
            '''class AlternateThresholds:
    """Every other threshold of each column."""

    scope = "every other threshold of each column"

    def codes(self, table, data, control=None):
        """Cut above every other value."""
        return [np.arange(0, max(0, len(values) - 1), 2) for values in table.values]


~~~    "alternate": AlternateThresholds,
''',
        ),
        (TYPING, '"quantile", "mdlp"', '"alternate", ~~~'),
        (TYPING, '"quantile", "ensemble"', '"alternate", ~~~'),
        (OPTIMAL + "estimators/_base.py", '"quantile", "mdlp"', '"alternate", ~~~'),
        (OPTIMAL + "estimators/_base.py", '"quantile", "ensemble"', '"alternate", ~~~'),
    ],
    "Error estimate": [
        (
            "sktree_opt/subset/errors/_halves.py",
            "",
            '''"""The error on each half of the rows, of trees grown on the other."""

import numpy as np

from sktree_opt.subset.errors._parts import ErrorEstimate, make_part


class HalvesError(ErrorEstimate):
    """The error on each half of the rows, of trees grown on the other."""

    def _make_parts(self, request):
        """Two parts."""
        rows = np.arange(len(request.y))
        halves = rows[::2], rows[1::2]
        return [make_part(request, *halves), make_part(request, *reversed(halves))]
''',
        ),
        (
            "sktree_opt/subset/errors/__init__.py",
            "The estimates are ``_search.py``,",
            "~~~ ``_halves.py``,",
        ),
        (
            "sktree_opt/subset/errors/__init__.py",
            "from sktree_opt.subset.errors._parts",
            "from sktree_opt.subset.errors._halves import HalvesError\n~~~",
        ),
        (
            "sktree_opt/subset/errors/__init__.py",
            '    "training": TrainingError,\n',
            '~~~    "halves": HalvesError,\n',
        ),
        (TYPING, 'ErrorName: TypeAlias = Literal["search"', '~~~, "halves"'),
        ("sktree_opt/subset/estimators/_base.py", 'error : {"search"', '~~~, "halves"'),
        (
            "doc/user_guide/subset.rst",
            "a callable              any",
            '``"halves"``            errors on each half of the rows, by trees of the other\n~~~',
        ),
    ],
    "Export format": [
        (
            "sktree_opt/export/_size.py",
            "",
            '''"""The size of a tree in words."""

from __future__ import annotations

from sktree_opt.export._description import Model, describe


def export_size(model: Model) -> str:
    """Say how large a tree is.

    Parameters
    ----------
    model : tree estimator or Tree
        The fitted tree.

    Returns
    -------
    size : str
        A sentence.

    Examples
    --------
    >>> from sktree_opt import GreedyTreeClassifier
    >>> from sktree_opt.export import export_size
    >>> export_size(GreedyTreeClassifier().fit([[0], [1]], [0, 1]))
    '3 nodes'
    """
    return f"{len(describe(model, None, None, None).tree.nodes)} nodes"
''',
        ),
        ("sktree_opt/export/__init__.py", "- ``_text.py``,", "~~~ ``_size.py``,"),
        (
            "sktree_opt/export/__init__.py",
            "from sktree_opt.export._sklearn",
            "from sktree_opt.export._size import export_size\n~~~",
        ),
        (
            "sktree_opt/export/__init__.py",
            '    "text": export_text,\n',
            '~~~    "size": export_size,\n',
        ),
        ("sktree_opt/export/__init__.py", '    "export_text",\n', '    "export_size",\n~~~'),
        ("sktree_opt/__init__.py", "        export_text,\n", "        export_size,\n~~~"),
        (
            "sktree_opt/__init__.py",
            " export_text from_json",
            " export_size~~~",
        ),
        ("sktree_opt/__init__.py", '    "export_text",\n', '    "export_size",\n~~~'),
    ],
}

PYTHON = [entry for entry in RECIPES if "new" not in entry]
COMPILED = [entry for entry in RECIPES if "new" in entry]
# What tests each entry, by name; and all of them.
NAMES = {
    "tests/greedy/test_oracle.py": "gini_gain_ratio cubes",
    "tests/optimal/test_oracle.py": "ranked_error cubes",
    "tests/optimal/test_tree_sets.py": "ranked_error cubes",
    "tests/optimal/test_oracle_questions.py": "ranked_error cubes",
    "tests/optimal/test_thresholds.py": "alternate",
    "tests/subset/test_errors.py": "halves",
    "tests/subset/test_estimators.py": "halves",
    "tests/export/test_formats.py": "size",
}
ALWAYS = [f"tests/test_{name}.py" for name in ("project", "typing", "top_level", "docstrings")]


@pytest.mark.parametrize("entry", RECIPES)
def test_numbers_of_files_are_true(entry):
    page = (ROOT / "doc" / "extending.rst").read_text("utf-8")
    found = re.search(rf"^   \* - {entry}\n     - (\d+)\n", page, re.MULTILINE)
    assert int(found[1]) == len({file for file, _, _ in RECIPES[entry]})


def follow(recipes, folder):
    """Copy the project and make the changes of some recipes."""
    left_out = shutil.ignore_patterns(
        ".*", "__pycache__", "build", "_build", "benchmarks", "examples"
    )
    shutil.copytree(ROOT, folder, ignore=left_out)
    for file, text, replacement in (change for entry in recipes for change in RECIPES[entry]):
        path = folder / file
        assert path.exists() == bool(text)
        known = path.read_text("utf-8") if text else ""
        assert text in known
        path.write_text(known.replace(text, replacement.replace("~~~", text), 1), "utf-8")


def run(folder, *arguments):
    """Run Python in a folder."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "CFLAGS": "-O1"}
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=TIME_LIMIT
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def run_tests(folder, names):
    """Run the tests of some new entries, and those that compare files."""
    files = [file for file, own in NAMES.items() if set(own.split()) & set(names)]
    chosen = " or ".join([*names, *(Path(file).stem for file in ALWAYS)])
    report = run(folder, "-m", "pytest", "-q", "-x", "-k", chosen, *files, *ALWAYS)
    assert " passed" in report
    listed = run(folder, "-m", "pytest", "-q", "--collect-only", *files)
    assert all(name in listed for name in names)


@long_test
def test_recipes_in_python(tmp_path):
    follow(PYTHON, tmp_path / "copy")
    run_tests(tmp_path / "copy", ["gini_gain_ratio", "ranked_error", "alternate", "halves", "size"])
    score = "OptimalTreeClassifier(objective='jaccard').fit([[0], [1], [1]], [0, 1, 1]).objective_"
    assert run(tmp_path / "copy", "-c", f"from sktree_opt import *; print({score})") == "0.0\n"


@long_test
def test_recipes_that_are_compiled(tmp_path):
    follow(COMPILED, tmp_path / "copy")
    run(tmp_path / "copy", "setup.py", "--quiet", "build_ext", "--inplace")
    run_tests(tmp_path / "copy", ["cubes"])
