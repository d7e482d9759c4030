"""What tests of interrupts and of threads share."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

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


def interrupt_after(seconds, work):
    """Press Ctrl-C while `work` runs, or behind it if it is done by then; whether it was not."""
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    is_done = False
    try:
        timer.start()
        work()
        is_done = True
        # The signal comes in here, not in what follows.
        timer.join()
        time.sleep(1.0)
    except KeyboardInterrupt:
        return not is_done
    raise AssertionError("no Ctrl-C came")


def processor_seconds(pid):
    """What a process has used of the processors so far; None where that cannot be asked."""
    if not sys.platform.startswith("linux"):
        return None
    # The name, in parentheses, may hold blanks; after it, user and system time are 12th and 13th.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_for_processor(pid, seconds):
    """Wait until a process has used the processors for some seconds, or by the clock elsewhere."""
    before = processor_seconds(pid)
    if before is None:
        time.sleep(seconds)
        return
    end = time.monotonic() + 60.0
    while processor_seconds(pid) < before + seconds and time.monotonic() < end:
        time.sleep(0.005)
