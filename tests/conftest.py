"""Fixtures that every test may ask for."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")

# Looking for examples in docstrings would import it, and atheris need not be there.
collect_ignore = ["fuzz_readers.py"]

# Shells let background commands start with Ctrl-C ignored; some tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples in every run: a seventh of those of ``.ci/run``, which sets
# SKTREE_OPT_HYPOTHESIS=ci. "thorough" tries twenty times as many as that, others each time.
settings.register_profile("quick", max_examples=15, deadline=None, derandomize=True)
settings.register_profile("ci", max_examples=100, deadline=None, derandomize=True)
settings.register_profile("thorough", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("SKTREE_OPT_HYPOTHESIS", "quick"))

DATA = os.environ.get("SKTREE_OPT_DATA", Path(__file__).parents[2] / "shared" / "data")


def _seeds():
    """Seeds named by SKTREE_OPT_TESTS_SEED: one number, "3-7", or "all" for 0-99."""
    first, _, last = os.environ.get("SKTREE_OPT_TESTS_SEED", "42").partition("-")
    if first == "all":
        return range(100)
    return range(int(first), int(last or first) + 1)


def pytest_generate_tests(metafunc):
    if "global_random_seed" in metafunc.fixturenames:
        metafunc.parametrize("global_random_seed", _seeds())


@pytest.fixture(scope="session")
def data_dir():
    """Folder with the real data sets; the test is skipped where it is missing."""
    folder = Path(DATA).resolve()
    if not folder.is_dir():
        pytest.skip("SKTREE_OPT_DATA does not name a folder with data sets")
    return folder


@pytest.fixture(scope="session")
def cluster():
    """A client of two dask workers, each a process."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
