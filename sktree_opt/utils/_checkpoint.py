"""The state of a search in a file, from which a later call with the same arguments goes on.

A checkpoint is two lines of JSON: what the file is, and the states of one or several searches, with
arrays as base64. It holds numbers alone, no code. It is written to a file beside it, which then
takes its place, so that at any moment there is a whole one.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import threading
import time
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import numpy as np

from sktree_opt.utils._params import warn_user

FORMAT, VERSION = "sktree_opt checkpoint", 1

# A state is written after so many seconds, or later if writing it takes more than this share.
_seconds_a_write = ContextVar("seconds_a_write", default=1.0)
SHARE_FOR_WRITING = 0.05

# Reading a damaged file may raise one of these.
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)

# Kinds of numbers that arrays may hold.
KINDS = "biuf"


@contextmanager
def write_every(seconds):
    """Write checkpoints of all fits inside after so many seconds; for tests."""
    token = _seconds_a_write.set(seconds)
    try:
        yield
    finally:
        _seconds_a_write.reset(token)


class Checkpoint:
    """The file of a fit.

    Parameters
    ----------
    path : str or path-like
        It need not exist yet; its folder has to.

    owner : str
        What is fitted.
    """

    def __init__(self, path, owner):
        self.path, self._owner = Path(path), owner
        self._searches = read(self.path, owner) if self.path.exists() else {}
        self._seconds, self._is_broken = _seconds_a_write.get(), False
        self._has_begun = False
        # A path that cannot be written to is found out before the search.
        write(self.path, owner, self._searches)
        self._next = time.monotonic() + self._seconds

    @property
    def seconds(self):
        """Seconds after which a search should come back, to be written."""
        return self._seconds

    @property
    def is_due(self):
        """Whether it is time to write."""
        return time.monotonic() >= self._next

    def begin(self, name, fingerprint):
        """Begin a search of this fit.

        Parameters
        ----------
        name : str
            Which of its searches.

        fingerprint : bytes
            Of all that its states depend on.

        Returns
        -------
        record : Record
        """
        known = self._searches.get(name)
        is_other = known is not None and known["fingerprint"] != fingerprint.hex()
        if is_other and not self._has_begun:
            raise foreign(self.path, "its data or parameters are different")
        self._has_begun = True
        # Where a limit has ended one search, the next one may have another question.
        if known is None or is_other:
            self._searches[name] = known = {"fingerprint": fingerprint.hex(), "state": None}
        return Record(self, known)

    def write(self):
        """Write the states of all searches."""
        if self._is_broken:
            return
        start = time.monotonic()
        try:
            write(self.path, self._owner, self._searches)
        except OSError as error:
            # The search is worth more than its checkpoint.
            self._is_broken = True
            warn_user(f"checkpoint={str(self.path)!r} cannot be written any more: {error}")
        now = time.monotonic()
        self._next = now + max(self._seconds, (now - start) / SHARE_FOR_WRITING)


def open_checkpoint(estimator):
    """The checkpoint of a fit; None if there is none."""
    path = getattr(estimator, "checkpoint", None)
    return None if path is None else Checkpoint(path, type(estimator).__name__)


class Record:
    """The state of one search of a fit, in its checkpoint.

    Attributes
    ----------
    state : object or None
        What was written last: dicts with str as keys, lists, strings, numbers, arrays.
    """

    def __init__(self, checkpoint, entry):
        self.checkpoint, self._entry = checkpoint, entry

    @property
    def state(self):
        return self._entry["state"]

    @property
    def is_due(self):
        """Whether it is time to write."""
        return self.checkpoint.is_due

    def write(self, state):
        """Write a state to the file."""
        self._entry["state"] = state
        self.checkpoint.write()

    @contextmanager
    def while_running(self, make_state):
        """Write states of a search that runs inside without the GIL, from another thread."""
        is_over = threading.Event()

        def write_now_and_then():
            while not is_over.wait(self.checkpoint.seconds):
                if self.is_due:
                    self.write(make_state())

        writer = threading.Thread(target=write_now_and_then, daemon=True)
        writer.start()
        try:
            yield
        finally:
            is_over.set()
            writer.join()

    @contextmanager
    def reading(self):
        """Refuse the file if what is read inside does not make sense."""
        try:
            yield
        except UNREADABLE as error:
            raise damaged(self.checkpoint.path, error) from error


def foreign(path, reason):
    """The error for a file of another fit."""
    return ValueError(
        f"checkpoint={str(path)!r} belongs to another search: {reason}. Choose another path, or "
        "delete the file."
    )


def damaged(path, reason):
    """The error for a file that is not as it was written."""
    return ValueError(f"checkpoint={str(path)!r} is damaged ({reason}). Delete the file.")


def write(path, owner, searches):
    """Write a checkpoint so that the file is always whole, whatever happens meanwhile."""
    content = {"owner": owner, "searches": searches}
    body = json.dumps(content, default=plain_array).encode()
    digest = hashlib.blake2b(body, digest_size=16).hexdigest()
    head = json.dumps({"format": FORMAT, "version": VERSION, "digest": digest}).encode()
    beside = path.with_name(path.name + ".part")
    with beside.open("wb") as file:
        file.write(head + b"\n" + body + b"\n")
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    if os.name == "posix":
        # The new name, too, has to reach the disk.
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def read(path, owner):
    """The searches of a checkpoint."""
    content = path.read_bytes()
    try:
        head, body = content.split(b"\n", 1)
        about = json.loads(head)
        is_ours = isinstance(about, dict) and about.get("format") == FORMAT
    except (ValueError, RecursionError):
        is_ours = False
    if not is_ours:
        raise ValueError(f"checkpoint={str(path)!r} is not a checkpoint of sktree_opt.")
    if about.get("version") != VERSION:
        raise ValueError(
            f"checkpoint={str(path)!r} has format version {about.get('version')!r}, but this "
            f"version of sktree_opt reads {VERSION}. Delete the file."
        )
    body = body.removesuffix(b"\n")
    if hashlib.blake2b(body, digest_size=16).hexdigest() != about.get("digest"):
        raise damaged(path, "its content does not match its digest")
    try:
        content = json.loads(body, object_hook=array_of)
        found, searches = str(content["owner"]), content["searches"]
        for entry in searches.values():
            bytes.fromhex(entry["fingerprint"])
            entry["state"]
    except UNREADABLE as error:
        raise damaged(path, error) from error
    if found != owner:
        raise foreign(path, f"it is of {found}, not {owner}")
    return searches


def plain_array(value):
    """An array as JSON."""
    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, np.ndarray) or value.dtype.kind not in KINDS:
        raise TypeError(f"A checkpoint holds numbers, got {type(value).__name__}.")
    array = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
    data = base64.b64encode(array.tobytes()).decode()
    return {"dtype": array.dtype.str, "shape": list(array.shape), "data": data}


def array_of(entry):
    """The array that an entry of JSON is, or the entry."""
    if entry.keys() != {"dtype", "shape", "data"}:
        return entry
    dtype = np.dtype(entry["dtype"])
    if dtype.kind not in KINDS:
        raise ValueError(f"an array of {dtype}")
    data = base64.b64decode(entry["data"], validate=True)
    array = np.frombuffer(data, dtype=dtype).reshape(entry["shape"])
    return array.astype(dtype.newbyteorder("="))
