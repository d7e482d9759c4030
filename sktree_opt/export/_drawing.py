"""How a drawn tree looks: the places of its nodes, and their colours."""

import colorsys

import numpy as np

# Okabe and Ito's set: told apart with any kind of colour vision.
PALETTE = ("#e69f00", "#56b4e9", "#009e73", "#cc79a7", "#d55e00", "#0072b2", "#f0e442", "#999999")


def lay_out(children, widths, gap):
    """Horizontal centre of each node.

    Sub-trees are put side by side as close as their outlines allow, and a parent stands over the
    middle of its first and last child (Reingold and Tilford, 1981, doi:10.1109/TSE.1981.234519,
    for any number of children and boxes of different widths). Takes time linear in the number of
    nodes times the depth.

    Parameters
    ----------
    children : dict of int to list of int
        Children of each node to draw, from left to right; node 0 is the root.

    widths : dict of int to float
        Width of each node's box.

    gap : float
        Least distance between two boxes on a level.

    Returns
    -------
    centres : dict of int to float
        The leftmost box begins at 0.
    """
    offset, outline = {}, {}
    # Children have larger indices than their parents, so they come first here.
    for node in sorted(children, reverse=True):
        half = widths[node] / 2.0
        below = children[node]
        merged = []
        for child in below:
            shape = outline.pop(child)
            # Far enough right of all that stands already, on each level that both have.
            pairs = zip(merged, shape, strict=False)
            offset[child] = max((right + gap - left for (_, right), (left, _) in pairs), default=0)
            moved = [(left + offset[child], right + offset[child]) for left, right in shape]
            merged = [
                (merged[level][0] if level < len(merged) else moved[level][0],
                 moved[level][1] if level < len(moved) else merged[level][1])
                for level in range(max(len(merged), len(moved)))
            ]  # fmt: skip
        middle = (offset[below[0]] + offset[below[-1]]) / 2.0 if below else 0.0
        for child in below:
            offset[child] -= middle
        outline[node] = [(-half, half)] + [
            (left - middle, right - middle) for left, right in merged
        ]
    centres = {0: -min(left for left, _ in outline[0])}
    for node in sorted(children):
        for child in children[node]:
            centres[child] = centres[node] + offset[child]
    return centres


def class_colours(n_classes):
    """One colour, as (red, green, blue) in 0..1, for each class."""
    if n_classes <= len(PALETTE):
        return [from_hex(colour) for colour in PALETTE[:n_classes]]
    # Steps of the golden section spread any number of hues.
    return [
        colorsys.hls_to_rgb((0.08 + 0.618034 * k) % 1.0, 0.45 + 0.15 * (k % 3), 0.65)
        for k in range(n_classes)
    ]


def node_colours(words):
    """Fill of each node: its class, paler the more mixed it is; for regression, blue by mean."""
    tree = words.tree
    if tree.is_classifier:
        shares = tree.node_values()
        n_classes = shares.shape[1]
        chosen = shares[np.arange(len(shares)), words.decisions]
        chance = 1.0 / n_classes if n_classes > 1 else 0.0
        strength = np.clip((chosen - chance) / (1.0 - chance), 0.0, 1.0)
        base = np.array(class_colours(n_classes))[words.decisions]
    else:
        means = tree.values[:, 0]
        spread = np.ptp(means)
        strength = (means - means.min()) / spread if spread > 0 else np.zeros(len(means))
        base = np.tile(from_hex("#0072b2"), (len(means), 1))
    # Never so dark that black text is hard to read.
    strength = 0.08 + 0.57 * strength[:, None]
    return [tuple(row) for row in (1.0 - strength + strength * base).tolist()]


def from_hex(colour):
    """(red, green, blue) of ``#rrggbb``."""
    return tuple(int(colour[i : i + 2], 16) / 255.0 for i in (1, 3, 5))


def to_hex(colour):
    """``#rrggbb`` of (red, green, blue)."""
    return "#" + "".join(f"{round(255 * part):02x}" for part in colour)
