"""Where the nodes of a drawn tree stand: boxes of any width, level by level, none overlapping."""


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
