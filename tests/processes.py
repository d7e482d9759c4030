"""What tests of interrupts and of threads share."""

import os
import threading

import pytest

needs_sigint = pytest.mark.skipif(
    os.name == "nt", reason="Windows has no SIGINT that one process can be sent alone"
)


def in_two_threads(make, tables):
    """What `make` returns for each of two tables, in threads that run side by side."""
    found = [None, None]

    def run(k):
        found[k] = make(*tables[k])

    threads = [threading.Thread(target=run, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found
