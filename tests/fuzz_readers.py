"""What reads files of others, under damage that coverage guides: ``make fuzz-readers``.

    python -m tests.fuzz_readers json --minutes 10
    python -m tests.fuzz_readers table --minutes 10
    python -m tests.fuzz_readers checkpoint --minutes 10

atheris keeps each input that reaches new lines and damages it further. "json" reads trees: a text
is refused by a ``ValueError``, or the tree predicts and is written again. "table" reads CSV files
as the command line does: it ends in an exit code. "checkpoint" goes on from damaged files whose
digest is right: the file is refused, or the fit ends with a tree. Inputs grow in a folder of their
own; one that fails is kept as ``crash-*`` in the working directory; the same command repeats it,
given the file.
"""

import argparse
import base64
import contextlib
import hashlib
import io
import json
import random
import sys
import tempfile
import warnings
from pathlib import Path

import atheris
import numpy as np
from threadpoolctl import threadpool_limits

with atheris.instrument_imports(include=["sktree_opt"]):
    from sktree_opt import (
        AcceptableSubsetSelector,
        GreedyTreeClassifier,
        GreedyTreeRegressor,
        OptimalTreeClassifier,
        OptimalTreeClassifierCV,
        TreeSetClassifier,
        from_json,
        to_json,
    )
    from sktree_opt.__main__ import main as run_command

ODD = [None, True, -1, 0, 1e308, 2**63, "", "x", "\x00", [], {}, [[]], float("nan"), "<U9", "i8"]


def trees():
    """JSON of small trees of every kind."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=40), rng.integers(0, 4, 40), rng.integers(0, 2, 40)])
    X[:5, 0] = np.nan
    y = (X[:, 1] > 1) ^ (X[:, 2] > 0)
    labels = np.where(y, "yes", "no")
    nominal = {"categorical_features": [1]}
    yield to_json(OptimalTreeClassifier(max_depth=2, **nominal).fit(X, labels)).encode()
    costly = OptimalTreeClassifier(max_depth=1, objective="cost", cost_matrix=[[0, 1], [3, 0]])
    yield to_json(costly.fit(X[:, 1:], y)).encode()
    yield to_json(GreedyTreeClassifier(max_depth=3, **nominal).fit(X, labels)).encode()
    yield to_json(GreedyTreeRegressor(max_depth=2).fit(X, X[:, 1])).encode()


def tables():
    yield b"a,b,y\n1,red,no\n2.5,,yes\n,blue,no\n4,red,yes\n"
    yield b"a;y\n2024-01-01;1\n2024-02-01;0\n2024-03-01;1\n"


# The searches of checkpoints: the first byte of a file says which.
RNG = np.random.default_rng(0)
BITS, NUMBERS = RNG.integers(0, 2, (40, 5)), RNG.normal(size=(40, 3))
CLASSES = (BITS[:, 0] ^ BITS[:, 1] & BITS[:, 2]) ^ (RNG.random(40) < 0.2)
LIMITS = {"time_limit": 1.0, "n_jobs": 1}
SEARCHES = [
    (OptimalTreeClassifier(max_depth=3, **LIMITS), BITS),
    (OptimalTreeClassifier(max_depth=3, **LIMITS), NUMBERS),
    (TreeSetClassifier(epsilon=0.1, **LIMITS), BITS),
    (OptimalTreeClassifierCV(cv=2, max_depth=2, **LIMITS), BITS),
    (AcceptableSubsetSelector(error="training", delta=0.05, collect=True, **LIMITS), NUMBERS),
]


def checkpoints():
    for number, (model, X) in enumerate(SEARCHES):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "file")
            model.set_params(checkpoint=path).fit(X, CLASSES)
            yield bytes([number]) + path.read_bytes()


def damaged_json(data, max_size, seed):
    """One value somewhere in the text is replaced, repeated, moved or left out."""
    rng = random.Random(seed)
    try:
        document = json.loads(data)
        if rng.random() < 0.1 or not damage(document, rng):
            return atheris.Mutate(data, max_size)
        text = json.dumps(document).encode()
    except (ValueError, RecursionError):  # no JSON, or a part that holds itself
        return atheris.Mutate(data, max_size)
    return text if len(text) <= max_size else data


def damaged_checkpoint(data, max_size, seed):
    """The same for the states of searches and the numbers of arrays; the digest is right."""
    rng = random.Random(seed)
    try:
        head, body = data[1:].split(b"\n", 1)
        about, document = json.loads(head), json.loads(body)
        is_damaged = rng.random() > 0.1 and damage(document, rng)
        body = json.dumps(document).encode()
        about["digest"] = hashlib.blake2b(body, digest_size=16).hexdigest()
    except (ValueError, TypeError, RecursionError):
        return atheris.Mutate(data, max_size)
    whole = data[:1] + json.dumps(about).encode() + b"\n" + body + b"\n"
    return whole if is_damaged and len(whole) <= max_size else atheris.Mutate(data, max_size)


def damage(document, rng):
    """Change a value of a document; whether there is one."""
    parts, unread = [], [document] if isinstance(document, (dict, list)) else []
    while unread:
        part = unread.pop()
        inner = part.items() if isinstance(part, dict) else enumerate(part)
        for key, value in list(inner):
            # With another one, the file would only be refused.
            if key != "fingerprint":
                parts.append((part, key))
            if isinstance(value, (dict, list)):
                unread.append(value)
    if not parts:
        return False
    part, key = rng.choice(parts)
    other, other_key = rng.choice(parts)
    if rng.random() < 0.2:
        del part[key]
        return True
    value = part[key]
    near = [value + 1, -value, value / 3] if type(value) in (int, float) else ODD
    if key == "data" and isinstance(part, dict) and len(str(value)) > 0:
        near = [changed_bytes(str(value), rng)]
    part[key] = rng.choice(
        [
            rng.choice(ODD),
            rng.choice(near),
            other.get(other_key) if isinstance(other, dict) else other[other_key],
        ]
    )
    return True


def changed_bytes(data, rng):
    """An array in base64 with another number somewhere."""
    content = bytearray(base64.b64decode(data, validate=True))
    for _ in range(rng.randint(1, 3)):
        if content:
            content[rng.randrange(len(content))] = rng.choice([0, 1, 2, 127, 128, 255])
    return base64.b64encode(bytes(content)).decode()


def read_json(data):
    text = data.decode("utf-8", "replace")
    try:
        model = from_json(text)
    except ValueError:
        return
    n_features = getattr(model, "n_features_in_", 1)
    # A table of other columns or of other types is refused as in any estimator.
    with contextlib.suppress(ValueError, TypeError):
        rows = np.ones((2, min(n_features, 1000)))
        model.predict(rows)
        if hasattr(model, "predict_proba"):
            assert np.allclose(model.predict_proba(rows).sum(axis=1), 1.0)
        from_json(to_json(model))


def read_table(data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "data.csv")
        path.write_bytes(data)
        silent = contextlib.redirect_stdout(io.StringIO())
        with silent, contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(SystemExit):
            run_command(["fit", str(path), "--target=y", "--max-depth=1", "--cv=0", "--n-jobs=1"])


def read_checkpoint(data):
    model, X = SEARCHES[data[0] % len(SEARCHES)] if data else SEARCHES[0]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder, "file")
        path.write_bytes(data[1:])
        try:
            model.set_params(checkpoint=path).fit(X, CLASSES)
        except ValueError as error:
            if "checkpoint" not in str(error):
                raise
        except RuntimeError as error:
            # The tree does not cost what the file says.
            if "objective" not in str(error):
                raise


READERS = {
    "json": (read_json, trees, damaged_json),
    "table": (read_table, tables, None),
    "checkpoint": (read_checkpoint, checkpoints, damaged_checkpoint),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("reader", choices=READERS)
    parser.add_argument("inputs", nargs="*", help="files to read once, such as crash-*")
    parser.add_argument("--minutes", type=float, default=1.0)
    arguments = parser.parse_args()
    read, examples, damage = READERS[arguments.reader]
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        for number, content in enumerate(examples()):
            Path(folder, str(number)).write_bytes(content)
        options = [
            f"-max_total_time={60 * arguments.minutes:.0f}",
            "-max_len=20000",
            "-verbosity=0",
            "-print_final_stats=1",
        ]
        atheris.Setup(
            [sys.argv[0], *options, *(arguments.inputs or [folder])],
            read,
            **({"custom_mutator": damage} if damage else {}),
        )
        atheris.Fuzz()


if __name__ == "__main__":
    main()
