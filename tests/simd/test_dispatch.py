"""``SKTREE_OPT_SIMD`` means the same to every engine."""

import numpy as np
import pytest

from sktree_opt.optimal import OptimalTreeClassifier
from sktree_opt.simd._dispatch import INSTRUCTION_SETS, available_instruction_sets

rng = np.random.default_rng(0)
NUMBERS = rng.random((200, 4))
CLASSES = ((NUMBERS[:, 0] > 0.5) ^ (rng.random(200) < 0.2)).astype(int)
OTHERS = sorted(set(INSTRUCTION_SETS) - set(available_instruction_sets()))
# A fit that each engine answers.
FITS = {
    "bits": (NUMBERS > 0.5, {"max_depth": 3}),
    "thresholds": (NUMBERS, {"max_depth": 2}),
    "tree_sets": (NUMBERS > 0.5, {"max_depth": 2, "objective": "f1"}),
}


@pytest.mark.parametrize("engine", FITS)
@pytest.mark.parametrize("name", available_instruction_sets())
def test_available_names_give_the_same_tree(engine, name, monkeypatch):
    X, parameters = FITS[engine]
    expected = OptimalTreeClassifier(**parameters).fit(X, CLASSES)
    monkeypatch.setenv("SKTREE_OPT_SIMD", name)
    assert OptimalTreeClassifier(**parameters).fit(X, CLASSES).tree_ == expected.tree_


@pytest.mark.parametrize("engine", FITS)
@pytest.mark.parametrize("name", ["mmx", *OTHERS])
def test_other_names_are_refused(engine, name, monkeypatch):
    X, parameters = FITS[engine]
    monkeypatch.setenv("SKTREE_OPT_SIMD", name)
    with pytest.raises(ValueError, match=f"SKTREE_OPT_SIMD must be .*avx512bitalg.* got '{name}'"):
        OptimalTreeClassifier(**parameters).fit(X, CLASSES)


def test_an_empty_name_means_the_best(monkeypatch):
    monkeypatch.setenv("SKTREE_OPT_SIMD", "")
    assert OptimalTreeClassifier(max_depth=2).fit(NUMBERS, CLASSES).status_ == "optimal"
    assert available_instruction_sets()[0] == "portable"
