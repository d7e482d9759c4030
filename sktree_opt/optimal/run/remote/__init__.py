"""One search on many machines: parts of it are tasks of a distributed joblib backend.

A search at the root is a list of units that do not depend on each other: columns of the bits
engine, or intervals of thresholds. ``_rounds`` gives them out in rounds. A task has some of the
units, the best tree, and the bounds known when its round began; its answer is a better tree, better
bounds, and the units that it has not come to. The search here takes the answers, and ends as if it
had found them. ``_graphs`` does the same for sets of trees, and joins the graphs of parts.
"""
