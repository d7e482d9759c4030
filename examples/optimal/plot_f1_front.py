"""
Every trade-off between two kinds of errors
===========================================

With a metric as objective, such as the F1 score, the search finds all pairs of false positives and
false negatives that no tree of the depth betters in both: the Pareto front. The best tree by F1
lies on it, and so does the best one by any other metric that grows with the errors.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import f1_score
from sklearn.preprocessing import KBinsDiscretizer

from sktree_opt import OptimalTreeClassifier

X, y = load_breast_cancer(return_X_y=True)
X = KBinsDiscretizer(4, encode="ordinal", quantile_method="averaged_inverted_cdf").fit_transform(X)
# The malignant ones are what is looked for.
y = 1 - y

# %%
figure, axes = plt.subplots(layout="constrained")
for depth in (1, 2, 3):
    model = OptimalTreeClassifier(max_depth=depth, objective="f1").fit(X, y)
    front = model.pareto_front_
    (line,) = axes.step(
        front["false_positives"], front["false_negatives"], where="post", label=f"depth {depth}"
    )
    best = front[front["loss"].argmin()]
    axes.plot(best["false_positives"], best["false_negatives"], "o", color=line.get_color())
    assert f1_score(y, model.predict(X)) == 1 - best["loss"]
    print(f"depth {depth}: F1 = {1 - model.objective_:.3f}, {len(front)} points on the front")
# Few pairs are within reach of a single test, and they are far off.
axes.set(xlabel="false positives", ylabel="false negatives", xlim=(-5, 120), ylim=(-5, 120))
axes.legend()
plt.show()

# %%
# Any function of the two errors does. Here a missed case is as bad as ten false alarms.
model = OptimalTreeClassifier(max_depth=3, objective=lambda fp, fn: fp + 10 * fn).fit(X, y)
print(f"least cost {model.objective_:g}")
assert model.objective_ == (front["false_positives"] + 10 * front["false_negatives"]).min()
