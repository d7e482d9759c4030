"""Pictures: all words are there, in their boxes, and none lies over another."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sktree_opt.export import export_dot, plot_tree
from sktree_opt.export._drawing import lay_out
from sktree_opt.greedy import GreedyTreeClassifier
from sktree_opt.optimal import OptimalTreeClassifier
from sktree_opt.tree import Tree
from tests.effort import examples
from tests.tree.random_tree import COLUMNS, model_of, random_tree

plt = pytest.importorskip("matplotlib.pyplot")
patches = pytest.importorskip("matplotlib.patches")

seeds = st.integers(0, 2**32 - 1)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def draw_tree(seed, **options):
    return model_of(random_tree(np.random.default_rng(seed), **options))


def extents(artists, kind):
    found = [artist for artist in artists if isinstance(artist, kind)]
    return [(artist.get_window_extent(), artist) for artist in found]


def overlap(first, second):
    """Width and height that two boxes share, if both are positive."""
    width = min(first.x1, second.x1) - max(first.x0, second.x0)
    height = min(first.y1, second.y1) - max(first.y0, second.y0)
    return min(width, height)


@given(seeds, st.integers(1, 4), st.booleans())
@examples(15)
def test_nothing_overlaps(seed, max_depth, is_classifier):
    model = draw_tree(seed, max_depth=max_depth, is_classifier=is_classifier)
    long_names = [f"{column['name']} of something very long" for column in COLUMNS]
    names = long_names if seed % 2 else None
    artists = plot_tree(model, feature_names=names)
    figure = artists[0].figure
    figure.canvas.draw()
    texts, boxes = extents(artists, plt.Text), extents(artists, patches.FancyBboxPatch)
    assert len(boxes) == model.tree_.n_nodes
    outside = []
    for i, (extent, text) in enumerate(texts):
        for other, _ in texts[i + 1 :]:
            assert overlap(extent, other) < 1.0, text
        # Inside a box, or clear of all of them.
        shares = [overlap(extent, box) for box, _ in boxes]
        inside = [
            box.x0 <= extent.x0 and extent.x1 <= box.x1 and box.y0 <= extent.y0 + 1
            for box, _ in boxes
        ]
        assert any(inside) or max(shares) < 1.0, text
        if not any(inside):
            outside.append(text.get_text())
        assert figure.bbox.x0 <= extent.x0
        assert extent.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= extent.y0
        assert extent.y1 <= figure.bbox.y1
    for i, (extent, _) in enumerate(boxes):
        assert all(overlap(extent, other) < 0.5 for other, _ in boxes[i + 1 :])
    plt.close(figure)


@given(seeds, st.floats(0.0, 3.0))
@examples(100)
def test_layout(seed, gap):
    """Boxes keep their distance on each level; parents stand over the middle of their children."""
    rng = np.random.default_rng(seed)
    children, parents, queue = {}, {0: None}, [0]
    while queue:
        node = queue.pop(0)
        count = int(rng.integers(0, 5)) if len(parents) < 40 else 0
        children[node] = list(range(len(parents), len(parents) + count))
        parents.update(dict.fromkeys(children[node], node))
        queue += children[node]
    widths = {node: float(rng.uniform(0.5, 9.0)) for node in children}
    centres = lay_out(children, widths, gap)
    levels, depth = {}, {}
    for node in sorted(children):
        depth[node] = 0 if node == 0 else depth[parents[node]] + 1
        levels.setdefault(depth[node], []).append(node)
        if children[node]:
            ends = centres[children[node][0]], centres[children[node][-1]]
            assert centres[node] == pytest.approx(sum(ends) / 2.0)
    for nodes in levels.values():
        for left, right in itertools.pairwise(nodes):
            room = centres[right] - widths[right] / 2.0 - centres[left] - widths[left] / 2.0
            assert room >= gap - 1e-9
    assert min(centres[n] - widths[n] / 2.0 for n in children) == pytest.approx(0.0)


def words_of(artists):
    return [artist.get_text() for artist in artists if isinstance(artist, plt.Text)]


def test_all_words_are_there():
    model = draw_tree(0)
    words = words_of(plot_tree(model))
    tree = model.tree_
    for feature in tree.features:
        assert COLUMNS[feature]["name"] in words
    for index in np.flatnonzero(tree.nodes["n_children"] == 0):
        assert f"class {tree.values[index].argmax()}" in words
    joined = " ".join(words)
    assert "A missing value goes" in joined
    assert "or missing" in joined
    for k in range(3):
        assert f"class {k}" in words


def test_bars_show_the_shares():
    model = draw_tree(7, max_depth=2)
    bars = [a for a in plot_tree(model) if isinstance(a, patches.Rectangle)]
    # One for each class present at each node, and one for each class in the key.
    assert len(bars) == np.count_nonzero(model.tree_.values) + 3
    total = sum(bar.get_width() for bar in bars[: np.count_nonzero(model.tree_.values[0])])
    first = bars[0].get_width() / total
    values = model.tree_.values[0]
    assert first == pytest.approx(values[values > 0][0] / values.sum())


def test_colours_follow_the_answer():
    model = draw_tree(7, max_depth=3)
    boxes = [a for a in plot_tree(model) if isinstance(a, patches.FancyBboxPatch)]
    answers = model.tree_.values.argmax(axis=1)
    # Colours of the same answer lie on one line from white.
    for k in np.unique(answers):
        tints = [1.0 - np.array(boxes[i].get_facecolor()[:3]) for i in np.flatnonzero(answers == k)]
        directions = [tint / np.linalg.norm(tint) for tint in tints]
        np.testing.assert_allclose(directions, np.tile(directions[0], (len(tints), 1)), atol=1e-6)
    plain = [a for a in plot_tree(model, filled=False) if isinstance(a, patches.FancyBboxPatch)]
    assert {box.get_facecolor() for box in plain} == {(1.0, 1.0, 1.0, 1.0)}


def test_max_depth():
    model = draw_tree(7, max_depth=4)
    for max_depth in range(5):
        artists = plot_tree(model, max_depth=max_depth)
        boxes = [a for a in artists if isinstance(a, patches.FancyBboxPatch)]
        assert len(boxes) == np.count_nonzero(model.tree_.node_depths() <= max_depth)
    assert any("leaves ..." in word for word in words_of(plot_tree(model, max_depth=2)))


def test_in_given_axes():
    model = draw_tree(7, max_depth=4)
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4))
    artists = plot_tree(model, ax=right)
    assert all(artist.axes is right for artist in artists)
    assert not left.texts
    figure.canvas.draw()
    sizes = [a.get_fontsize() for a in artists if isinstance(a, plt.Text)]
    assert max(sizes) < 10.0
    for extent, text in extents(artists, plt.Text):
        assert right.bbox.x0 - 1 <= extent.x0, text
        assert extent.x1 <= right.bbox.x1 + 1, text
    sizes = [
        a.get_fontsize() for a in plot_tree(model, ax=left, fontsize=7) if isinstance(a, plt.Text)
    ]
    assert max(sizes) == 7.0


def test_dollars_and_long_words_are_no_trouble():
    names = ["cost $x_1$", "a" * 100, "many words " * 30, "", "\\alpha", "e", "f"]
    artists = plot_tree(draw_tree(7, max_depth=4), feature_names=names, class_names=["$", "", "b"])
    artists[0].figure.canvas.draw()
    assert max(map(len, words_of(artists))) <= 150


def test_many_classes():
    tree = random_tree(np.random.default_rng(0), n_outputs=30)
    artists = plot_tree(model_of(tree))
    assert len(artists) > 0


def test_a_lone_leaf():
    assert len(plot_tree(draw_tree(0, max_depth=0))) >= 2


def test_thresholds_stay_apart():
    """Rounding to 4 digits would draw the two thresholds as one."""
    rows = np.linspace(1.00001, 1.00009, 9)[:, np.newaxis]
    model = OptimalTreeClassifier(max_depth=2).fit(rows, [0, 0, 1, 1, 1, 0, 0, 0, 0])
    words = words_of(plot_tree(model))
    assert {"<= 1.000025", "<= 1.000055"} <= set(words)


def test_the_current_axes_are_drawn_into():
    """As scikit-learn's plot_tree does; a figure of the right size only where there is none."""
    model = model_of(random_tree(np.random.default_rng(4)))
    plt.close("all")
    first = plot_tree(model)[0].axes
    assert len(plt.get_fignums()) == 1
    assert first.get_position().bounds == (0.0, 0.0, 1.0, 1.0)
    plt.close("all")
    figure, axes = plt.subplots(1, 2, figsize=(12, 6))
    plt.sca(axes[0])
    axes[0].plot([0, 1], [0, 1])
    artists = plot_tree(model)
    assert {artist.axes for artist in artists} == {axes[0]}
    assert len(axes[0].lines) < len(artists)
    assert plt.get_fignums() == [figure.number]
    plt.close("all")


def test_long_thresholds_are_rounded_and_short_ones_are_not():
    plt.close("all")
    X = [[12345.0, 448.9], [12346.0, 449.00000000000006]] * 3
    for column, text in ((0, "<= 12345.5"), (1, "<= 449")):
        tree = GreedyTreeClassifier().fit([[row[column]] for row in X], [0, 1] * 3)
        if column:
            nodes = tree.tree_.nodes.copy()
            nodes["threshold"][0] = 448.95000000000005
            tree.tree_ = Tree(nodes, tree.tree_.values, n_features=1, is_classifier=True)
        texts = {a.get_text() for a in plot_tree(tree) if hasattr(a, "get_text")}
        assert text in texts
        assert f'label="{text}"' in export_dot(tree)
        plt.close("all")
