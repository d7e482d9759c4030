"""How much work tests do: less in ``make test``, all of it in ``.ci/run``."""

import os

import pytest
from hypothesis import settings

IS_LONG_RUN = "SKTREE_OPT_LONG_TESTS" in os.environ

# Programs that take many seconds: benchmarks, examples, other solvers.
long_test = pytest.mark.skipif(
    not IS_LONG_RUN, reason="takes long; set SKTREE_OPT_LONG_TESTS, as .ci/run does"
)


def also_long(quick, *values):
    """Values of a parameter: `quick` in every run, the others in the long one."""
    return [quick, *(pytest.param(value, marks=long_test) for value in values)]


def number_of_examples(count):
    """A share of `count` examples: a seventh in ``make test``, all of them in ``.ci/run``.

    The thorough profile tries twenty times as many.
    """
    return max(count * settings.default.max_examples // 100, min(count, 10))


def examples(count):
    """Settings of a test of this share of `count` examples."""
    return settings(max_examples=number_of_examples(count), deadline=None)
