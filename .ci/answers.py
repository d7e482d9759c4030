"""Print what every estimator answers on small data, to compare one build with another."""

import hashlib
import sys

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.utils import get_tags

import sktree_opt
from sktree_opt.utils import all_estimators

if sys.argv[1:]:
    assert sktree_opt.__file__.startswith(sys.argv[1]), sktree_opt.__file__

CLASSES = [load_breast_cancer(return_X_y=True), load_wine(return_X_y=True)]
NUMBERS = [load_diabetes(return_X_y=True)]
HEURISTIC = {"DTsbeSelector", "GreedyTreeClassifier", "GreedyTreeRegressor"}


def coarse(X):
    """Six columns of eight values, on which complete searches end at once."""
    cuts = np.quantile(X[:, :6], np.arange(1, 8) / 8, axis=0)
    return (X[:, None, :6] > cuts).sum(axis=1).astype(float)


for name, Estimator in all_estimators():
    estimator = Estimator()
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    sets = NUMBERS if is_regressor(estimator) else CLASSES
    if is_classifier(estimator) and not get_tags(estimator).classifier_tags.multi_class:
        sets = CLASSES[:1]
    for X, y in sets:
        X = X if name in HEURISTIC else coarse(X)
        estimator.fit(X, y)
        if is_classifier(estimator):
            answer = estimator.predict_proba(X)
        elif hasattr(estimator, "predict"):
            answer = estimator.predict(X)
        else:
            answer = estimator.transform(X)
        digest = hashlib.sha256(np.ascontiguousarray(answer, dtype=np.float64)).hexdigest()
        print(name, X.shape, digest)
