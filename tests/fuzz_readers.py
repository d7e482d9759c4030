"""What reads files of others, under damage that coverage guides: ``make fuzz-readers``.

    python -m tests.fuzz_readers json --minutes 10
    python -m tests.fuzz_readers table --minutes 10

atheris keeps each input that reaches new lines and damages it further. "json" reads trees: a text
is refused by a ``ValueError``, or the tree predicts and is written again. "table" reads CSV files
as the command line does: it ends in an exit code. Inputs grow in a folder of their own; one that
fails is kept as ``crash-*`` in the working directory; the same command repeats it, given the
file.
"""

import argparse
import contextlib
import io
import json
import random
import sys
import tempfile
from pathlib import Path

import atheris
import numpy as np
from threadpoolctl import threadpool_limits

with atheris.instrument_imports(include=["sktree_opt"]):
    from sktree_opt import (
        GreedyTreeClassifier,
        GreedyTreeRegressor,
        OptimalTreeClassifier,
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
    yield to_json(OptimalTreeClassifier(max_depth=2, **nominal).fit(X, labels))
    costly = OptimalTreeClassifier(max_depth=1, objective="cost", cost_matrix=[[0, 1], [3, 0]])
    yield to_json(costly.fit(X[:, 1:], y))
    yield to_json(GreedyTreeClassifier(max_depth=3, **nominal).fit(X, labels))
    yield to_json(GreedyTreeRegressor(max_depth=2).fit(X, X[:, 1]))


def tables():
    yield "a,b,y\n1,red,no\n2.5,,yes\n,blue,no\n4,red,yes\n"
    yield "a;y\n2024-01-01;1\n2024-02-01;0\n2024-03-01;1\n"


def damaged_json(data, max_size, seed):
    """One value somewhere in the text is replaced, repeated, moved or left out."""
    rng = random.Random(seed)
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return atheris.Mutate(data, max_size)
    parts, unread = [], [document] if isinstance(document, (dict, list)) else []
    while unread:
        part = unread.pop()
        inner = part.items() if isinstance(part, dict) else enumerate(part)
        for key, value in list(inner):
            parts.append((part, key))
            if isinstance(value, (dict, list)):
                unread.append(value)
    if not parts or rng.random() < 0.1:
        return atheris.Mutate(data, max_size)
    part, key = rng.choice(parts)
    other, other_key = rng.choice(parts)
    if rng.random() < 0.2:
        del part[key]
    else:
        value = part[key]
        near = [value + 1, -value, value / 3] if type(value) in (int, float) else ODD
        part[key] = rng.choice(
            [
                rng.choice(ODD),
                rng.choice(near),
                other.get(other_key) if isinstance(other, dict) else other[other_key],
            ]
        )
    try:
        text = json.dumps(document).encode()
    except (ValueError, RecursionError):  # a part that holds itself
        return atheris.Mutate(data, max_size)
    return text if len(text) <= max_size else data


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


READERS = {"json": (read_json, trees, damaged_json), "table": (read_table, tables, None)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("reader", choices=READERS)
    parser.add_argument("inputs", nargs="*", help="files to read once, such as crash-*")
    parser.add_argument("--minutes", type=float, default=1.0)
    arguments = parser.parse_args()
    read, examples, damage = READERS[arguments.reader]
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        for number, text in enumerate(examples()):
            Path(folder, str(number)).write_text(text, "utf-8")
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
