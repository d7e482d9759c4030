"""How much work tests do: less in ``make test``, all of it in ``.ci/run``."""

import os

import pytest
from hypothesis import settings

# Programs that take many seconds: benchmarks, examples, other solvers.
long_test = pytest.mark.skipif(
    "SKTREE_OPT_LONG_TESTS" not in os.environ,
    reason="takes long; set SKTREE_OPT_LONG_TESTS, as .ci/run does",
)


def examples(count):
    """Settings of a test of `count` examples in ``.ci/run``.

    ``make test`` tries a quarter of them, and the thorough profile twenty times as many.
    """
    share = settings.default.max_examples
    return settings(max_examples=max(count * share // 100, min(count, 10)), deadline=None)
