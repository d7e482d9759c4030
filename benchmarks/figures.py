"""The two pictures of README.md and of the documentation's front page: ``make figures``.

    python benchmarks/figures.py            # draws both
    python benchmarks/figures.py --measure  # measures the speed first (a few minutes)

``doc/images/tree.png`` is the tree that README.md prints. ``doc/images/speed.png`` shows how many
times as much processor time pystreed needs for the proof of the best tree of depth 4, on one
thread. Both solvers take turns (see ``bench_optimal.py``). The measurement needs the binary tables
in ``$SKTREE_OPT_DATA/binary`` and is kept in ``doc/images/speed.csv``.
"""

import argparse
import csv
import math
import re
from importlib.metadata import version
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt

import bench_optimal

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "doc" / "images"
# Small enough for a few minutes, large enough for pystreed to take 0.05 s.
SETS = [
    "anneal",
    "diabetes",
    "german-credit",
    "heart-cleveland",
    "hypothyroid",
    "kr-vs-kp",
    "lymph",
    "mushroom",
    "segment",
    "soybean",
    "vote",
    "yeast",
]
DEPTH = 4


def readme_example():
    """The Python example of README.md."""
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.S)
    return code


def measure(sets, limit):
    """Write CPU seconds, objective and ratio of each set."""
    options = argparse.Namespace(
        task="error", depth=DEPTH, cost=0.0, limit=limit, repeats=3, verbose=True,
        peer_python=bench_optimal.sys.executable,
    )  # fmt: skip
    solvers = {"ours": ("ours", {}, 1), "pystreed": ("pystreed", {}, 1)}
    lines = []
    for name in sets:
        found = bench_optimal.run_all(solvers, name, options)
        if None in found.values() or found["ours"]["loss"] != found["pystreed"]["loss"]:
            print(f"{name}: no proof by both within the limit")
            continue
        ours, peer = found["ours"]["seconds"], found["pystreed"]["seconds"]
        X, _ = bench_optimal.load(name)
        lines.append([name, *X.shape, f"{found['ours']['loss']:g}", f"{peer / ours:.1f}"])
        print(*lines[-1], flush=True)
    with (IMAGES / "speed.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["set", "rows", "columns", "errors", f"pystreed {version('pystreed')}"])
        writer.writerows(lines)


def draw_speed():
    """A bar for each set of speed.csv, the longest on top."""
    with (IMAGES / "speed.csv").open(encoding="utf-8") as file:
        header, *lines = csv.reader(file)
    lines.sort(key=lambda line: float(line[-1]))
    ratios = [float(line[-1]) for line in lines]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    figure, axes = plt.subplots(figsize=(8, 3.8), layout="constrained")
    bars = axes.barh([line[0] for line in lines], ratios, color="#0b6e99", height=0.7)
    axes.bar_label(bars, [f"{ratio:.0f}x" for ratio in ratios], padding=4)
    axes.axvline(1.0, color="#b35900", linewidth=1.5)
    axes.set(
        title=f"Proof of the best tree of depth {DEPTH}: CPU time of {header[-1]} divided by ours\n"
        f"(geometric mean {mean:.0f}x, one thread; the orange line is 1x)",
        xlim=(0, 1.12 * max(ratios)),
    )
    axes.spines[["top", "right", "bottom"]].set_visible(False)
    axes.xaxis.set_visible(False)
    axes.tick_params(left=False)
    save(figure, "speed.png", (IMAGES / "speed.csv").read_text("utf-8"))


def draw_tree():
    """The tree of the README's example."""
    from sktree_opt import export_text, plot_tree

    names = {}
    exec(readme_example(), names)
    figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
    plot_tree(names["tree"], ax=axes)
    save(figure, "tree.png", export_text(names["tree"]))


def save(figure, name, shown):
    """Write a picture, and into it what it shows, so that a test can tell whether it is current."""
    figure.savefig(IMAGES / name, dpi=120, metadata={"Description": shown})
    plt.close(figure)


def main():
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--limit", type=float, default=600.0)
    options = parser.parse_args()
    mpl.use("Agg")
    if options.measure:
        measure(options.sets, options.limit)
    draw_speed()
    draw_tree()


if __name__ == "__main__":
    main()
