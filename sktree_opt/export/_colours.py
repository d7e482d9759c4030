"""Colours of nodes, the same in every picture, from the standard library alone."""

import colorsys

import numpy as np

# Okabe and Ito's set: told apart with any kind of colour vision.
PALETTE = ("#e69f00", "#56b4e9", "#009e73", "#cc79a7", "#d55e00", "#0072b2", "#f0e442", "#999999")


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
