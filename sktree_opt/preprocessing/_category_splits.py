"""What binary tests may ask about a nominal column."""

import numpy as np

from sktree_opt.tree._node import CATEGORY_ONE, CATEGORY_SUBSET

# A column of k categories can be divided in 2**(k - 1) - 1 ways.
MAX_SUBSET_CATEGORIES = 12


class OneVsRest:
    """One category against all others."""

    scope = "one category against the others"

    @staticmethod
    def questions(n_categories, name):
        """Kinds of the tests, and the category of each."""
        # Of two categories one test is enough, and one category is no question.
        n_tests = n_categories if n_categories > 2 else max(0, n_categories - 1)
        return np.full(n_tests, CATEGORY_ONE, dtype=np.uint8), np.arange(n_tests)


class Subset:
    """Any division of the categories in two; for columns of at most 12 categories."""

    scope = "any categories against the others"

    @staticmethod
    def questions(n_categories, name):
        """Kinds of the tests, and a category or the bits of a set of them; small sets first."""
        if n_categories > MAX_SUBSET_CATEGORIES:
            raise ValueError(
                f"categorical_splits='subset' takes columns of at most {MAX_SUBSET_CATEGORIES} "
                f"categories, as each more doubles the tests; column {name!r} has {n_categories}. "
                "Join rare categories, or ask for 'one_vs_rest'."
            )
        sets = np.arange(1, max(1, 2**n_categories - 1))
        members = sets[:, np.newaxis] >> np.arange(n_categories) & 1
        size = members.sum(axis=1)
        # Of a set and the rest the smaller one is asked for; of two halves the one with the first.
        is_asked = (2 * size < n_categories) | ((2 * size == n_categories) & (sets & 1 == 1))
        sets, size = sets[is_asked], size[is_asked]
        order = np.lexsort((sets, size))
        sets, is_single = sets[order], size[order] == 1
        codes = np.where(is_single, np.log2(sets, where=is_single, out=np.zeros(len(sets))), sets)
        return np.where(is_single, CATEGORY_ONE, CATEGORY_SUBSET).astype(np.uint8), codes


CATEGORICAL_SPLITS = {"one_vs_rest": OneVsRest, "subset": Subset}
