"""
Intervals that the classes suggest
==================================

`MDLPDiscretizer` cuts a numeric column where the classes change, as long as a cut pays for its own
description. A column that says nothing about the classes stays whole.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from sktree_opt import MDLPDiscretizer

X, y = load_wine(return_X_y=True, as_frame=True)
columns = ["proline", "flavanoids", "hue", "ash"]
discretizer = MDLPDiscretizer(encode="thresholds").set_output(transform="pandas")
discretizer.fit(X[columns], y)

figure, axes = plt.subplots(1, 4, figsize=(12, 3.4), layout="constrained")
for axis, column, cuts in zip(axes, columns, discretizer.thresholds_, strict=True):
    bins = np.histogram_bin_edges(X[column], 25)
    axis.hist([X[column][y == k] for k in range(3)], bins, stacked=True)
    for cut in cuts:
        axis.axvline(cut, color="black", linestyle="--")
    axis.set(title=f"{column}: {len(cuts)} cuts", yticks=[])
plt.show()

# %%
# A column of pure noise gets no cut, whatever the noise.
for seed in range(20):
    noise = np.random.default_rng(seed).normal(size=(len(y), 1))
    assert len(MDLPDiscretizer().fit(noise, y).thresholds_[0]) == 0
