"""A tree drawn with matplotlib."""

from __future__ import annotations

import textwrap
from numbers import Real
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from sktree_opt.export._description import DEPTH_CONSTRAINTS, Model, describe, number_text
from sktree_opt.export._drawing import class_colours, lay_out, node_colours
from sktree_opt.export._text import count_leaves
from sktree_opt.tree._node import LEAF
from sktree_opt.utils._compat import Interval, validate_params

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

# Lengths in units of the font size.
LINE = 1.25  # from one line of text to the next
PAD = 0.5  # between text and the edge of its box
GAP = 1.0  # between neighbours
BAR = 0.45  # height of the bar of class shares
RISE = 2.2  # room for the lines between a level and the next,
MOST_RISE = 6.0  # at most, where there is room to spare
WRAP = 24  # characters of a line
MOST_LINES = 4
NOTE_WRAP = 40  # at least
MOST_KEYS = 20  # classes that are named under the tree


@validate_params(
    {
        **DEPTH_CONSTRAINTS,
        "filled": ["boolean"],
        "fontsize": [Interval(Real, 0, None, closed="neither"), None],
    },
    prefer_skip_nested_validation=True,
)
def plot_tree(
    model: Model,
    *,
    feature_names: ArrayLike | None = None,
    class_names: ArrayLike | None = None,
    max_depth: int | None = None,
    precision: int | None = 4,
    filled: bool = True,
    fontsize: float | None = None,
    ax: Axes | None = None,
) -> list[Artist]:
    """Draw a tree.

    A test is a box with the name of its feature. The text of a branch is above the box that the
    branch leads to. A leaf tells its answer and the weight of its rows. The colour is that of the
    answer, paler the more mixed the node is, and a bar shows the shares of the classes; for
    regression, the darker the larger the mean.

    Parameters
    ----------
    model : fitted tree estimator or Tree
        What to draw. For a fitted pipeline or search, the tree at its end.

    feature_names : array-like of str, default=None
        Names of the features; None for those seen in fit.

    class_names : array-like of str, default=None
        Names of the classes, in the order of ``classes_``; None for the labels.

    max_depth : int, default=None
        Depth below which only the number of leaves is told; None for no limit.

    precision : int, default=4
        Significant digits of all numbers, thresholds too; None for all digits. The thresholds of a
        feature have as many more as keep them apart; short ones are written in full.

    filled : bool, default=True
        Whether boxes are coloured.

    fontsize : float, default=None
        Size of the text in points; None for the largest size up to 10 at which the tree fits `ax`.

    ax : matplotlib Axes, default=None
        Where to draw. None for the current axes, which are cleared, or, without a figure, for a
        new one that is as large as the tree needs.

    Returns
    -------
    artists : list of matplotlib artist
        All that was drawn: the boxes, lines and texts.
    """
    import matplotlib.pyplot as plt

    words = describe(model, feature_names, class_names, precision, precision)
    picture = Picture(words, max_depth)
    if ax is None and not plt.get_fignums():
        points = fontsize or 10.0
        size = (max(2.0, picture.width * points / 72.0), max(1.0, picture.height * points / 72.0))
        ax = plt.figure(figsize=size).add_axes((0.0, 0.0, 1.0, 1.0))
    else:
        if ax is None:
            ax = plt.gca()
            ax.clear()
        box = ax.get_window_extent()
        width, height = box.width * 72.0 / ax.figure.dpi, box.height * 72.0 / ax.figure.dpi
        points = fontsize or min(10.0, width / picture.width, height / picture.height)
        picture.stretch(height / points)
    ax.set_axis_off()
    return picture.draw(ax, points, filled)


class Picture:
    """The boxes of a tree and where they stand, in units of the font size."""

    def __init__(self, words, max_depth):
        self.words, tree = words, words.tree
        depths = tree.node_depths()
        self.branches, self.lines, self.labels = {}, {}, {0: []}
        for index in range(tree.n_nodes):
            if max_depth is not None and depths[index] > max_depth:
                continue
            is_cut = max_depth is not None and depths[index] == max_depth
            self.branches[index] = [] if is_cut else words.branches(index)
            self.lines[index] = self._box_lines(index, is_cut)
            for branch in self.branches[index]:
                self.labels[branch.child] = shorten(branch.full_text)
        self.depths = {index: int(depths[index]) for index in self.branches}
        self.box_widths = {i: text_width(lines) + 2 * PAD for i, lines in self.lines.items()}
        widths = {i: max(width, text_width(self.labels[i])) for i, width in self.box_widths.items()}
        children = {i: [b.child for b in branches] for i, branches in self.branches.items()}
        self.x = lay_out(children, widths, GAP)
        left = min(self.x[i] - widths[i] / 2.0 for i in widths) - GAP
        right = max(self.x[i] + widths[i] / 2.0 for i in widths) + GAP
        self.note = textwrap.wrap(words.missing_note(), max(NOTE_WRAP, int((right - left) / 0.65)))
        # The text under the tree may be wider than the tree.
        self.width = max(right - left, text_width(self.note) + 2 * GAP)
        self.keys = self._place_keys()
        self.width = max(self.width, *(x + text_width([name]) + GAP for x, _, name in self.keys), 0)
        self.left = (left + right - self.width) / 2.0
        self.rise = RISE
        self._place_levels()

    def _box_lines(self, index, is_cut):
        words = self.words
        if words.tree.nodes["kind"][index] == LEAF:
            weight = number_text(words.tree.nodes["weight"][index], words.precision)
            return [*shorten(words.answer(index)), f"n = {weight}"]
        if is_cut:
            return [f"{count_leaves(words.tree, index)} leaves ..."]
        return shorten(words.feature(index))

    def _place_keys(self):
        """Names of the classes under the tree: (left, line, name)."""
        names = self.words.class_names or []
        keys, x, line = [], GAP, 0
        for name in names if len(names) <= MOST_KEYS else ():
            width = text_width([name]) + LINE + GAP
            if keys and x + width > self.width:
                x, line = GAP, line + 1
            keys.append((x + LINE, line, name))
            x += width
        return keys

    def _place_levels(self):
        """Tops of the boxes of each level, the bands that the lines cross, and the height."""
        top, self.tops, self.bands = -GAP, [], []
        for level in range(max(self.depths.values()) + 1):
            here = [i for i, depth in self.depths.items() if depth == level]
            if level > 0:
                self.bands.append((top, top - self.rise))
                top -= self.rise
            top -= LINE * max(len(self.labels[i]) for i in here)
            self.tops.append(top)
            top -= max(self.box_height(i) for i in here)
        self.bottom = top - PAD
        self.n_key_lines = self.keys[-1][1] + 1 if self.keys else 0
        self.height = -self.bottom + LINE * (len(self.note) + self.n_key_lines) + PAD

    def stretch(self, height):
        """Move the levels apart, to use the height there is."""
        if self.bands:
            wanted = self.rise + (height - self.height) / len(self.bands)
            self.rise = min(MOST_RISE, max(self.rise, wanted))
            self._place_levels()

    def box_height(self, index):
        """Height of a node's box."""
        return LINE * len(self.lines[index]) + 2 * PAD + (BAR if self.has_bar else 0.0)

    @property
    def has_bar(self):
        """Whether boxes show the shares of the classes."""
        return self.words.tree.is_classifier

    def draw(self, ax, points, filled):
        """Draw all; returns the artists."""
        ax.set_xlim(self.left, self.left + self.width)
        ax.set_ylim(-self.height, 0.0)
        ax.set_aspect("equal")
        colours = node_colours(self.words) if filled else None
        artists = []
        for index in self.branches:
            fill = colours[index] if filled else (1.0, 1.0, 1.0)
            artists += self._draw_box(ax, index, points, fill, filled)
            artists += self._draw_branches(ax, index, points)
        return artists + self._draw_footer(ax, points, filled)

    def _draw_footer(self, ax, points, filled):
        """The names of the classes, and the note on missing values."""
        from matplotlib.patches import Rectangle

        artists, style = [], {"ha": "left", "color": "0.35"}
        colours = self._bar_colours(filled)
        for (x, line, name), colour in zip(self.keys, colours, strict=False):
            left, y = self.left + x, self.bottom - LINE * (line + 0.5)
            square = Rectangle((left - LINE + 0.1, y - 0.4), 0.8, 0.8, facecolor=colour)
            artists += [ax.add_patch(square), put_text(ax, left, y, name, points, **style)]
        for number, line in enumerate(self.note, start=self.n_key_lines):
            y = self.bottom - LINE * (number + 0.5)
            artists.append(put_text(ax, self.left + GAP, y, line, points, **style))
        return artists

    def _bar_colours(self, filled):
        """One colour for each class, or one grey."""
        if not self.has_bar:
            return []
        n_classes = len(self.words.class_names)
        greys = [str(0.15 + 0.8 * k / n_classes) for k in range(n_classes)]
        return class_colours(n_classes) if filled else greys

    def _draw_box(self, ax, index, points, fill, filled):
        from matplotlib.patches import FancyBboxPatch

        x, top = self.x[index], self.tops[self.depths[index]]
        width, height = self.box_widths[index], self.box_height(index)
        is_leaf = self.words.tree.nodes["kind"][index] == LEAF
        box = FancyBboxPatch(
            (x - width / 2.0, top - height),
            width,
            height,
            boxstyle=f"round,pad=0,rounding_size={0.4 if is_leaf else 0.05}",
            facecolor=fill,
            edgecolor="0.25",
            linewidth=points / 12.0,
        )
        artists = [ax.add_patch(box)]
        for number, line in enumerate(self.lines[index]):
            y = top - PAD - LINE * (number + 0.5)
            is_answer = is_leaf and number < len(self.lines[index]) - 1
            weight = "bold" if is_answer else "normal"
            artists.append(put_text(ax, x, y, line, points, weight=weight))
        if self.has_bar:
            corner = (x - width / 2.0 + PAD, top - height + PAD / 2.0)
            artists += self._draw_bar(ax, index, corner, width - 2 * PAD, points, filled)
        return artists

    def _draw_bar(self, ax, index, corner, width, points, filled):
        """The shares of the classes at a node, side by side."""
        from matplotlib.patches import Rectangle

        left, bottom = corner
        artists = []
        shares = self.words.tree.node_values()[index]
        for share, colour in zip(shares, self._bar_colours(filled), strict=True):
            if share > 0:
                part = Rectangle(
                    (left, bottom),
                    width * share,
                    BAR,
                    facecolor=colour,
                    edgecolor="0.25",
                    linewidth=points / 30.0,
                )
                artists.append(ax.add_patch(part))
                left += width * share
        return artists

    def _draw_branches(self, ax, index, points):
        """The lines to the children of a node, and the texts above the children."""
        x, artists = self.x[index], []
        bottom = self.tops[self.depths[index]] - self.box_height(index)
        for branch in self.branches[index]:
            child, lines = branch.child, self.labels[branch.child]
            top = self.tops[self.depths[child]] + LINE * len(lines)
            # Aslant only between the levels, so that no line runs through a neighbour.
            start, end = self.bands[self.depths[index]]
            artists += ax.plot(
                [x, x, self.x[child], self.x[child]],
                [bottom, start, end, top],
                color="0.45",
                linewidth=points / 12.0,
                zorder=0,
            )
            for number, line in enumerate(lines):
                y = top - LINE * (number + 0.5)
                artists.append(put_text(ax, self.x[child], y, line, 0.9 * points))
        return artists


def put_text(ax, x, y, line, points, ha="center", **style):
    """A line of text without formulas: matplotlib leaves a $ or _ in a name alone."""
    return ax.text(x, y, line, fontsize=points, ha=ha, va="center", parse_math=False, **style)


def shorten(text):
    """The lines of a wrapped text, with the end left out if they are many."""
    lines = textwrap.wrap(text, WRAP, break_long_words=True) or [""]
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], lines[MOST_LINES - 1][: WRAP - 4] + " ..."]
    return lines


def text_width(lines):
    """Width of the longest line in units of the font size, a little more for bold type."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=100.0, weight="bold")
    widths = (text_to_path.get_text_width_height_descent(s, font, ismath=False)[0] for s in lines)
    return max(widths, default=0.0) / 100.0
