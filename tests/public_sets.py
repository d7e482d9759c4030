"""Public tables that are known exactly: made by their rules, or part of scikit-learn."""

from itertools import product

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


def one_hot(codes):
    """A 0/1 column for each value of each column."""
    columns = [column == value for column in codes.T for value in np.unique(column)]
    return np.column_stack(columns).astype(np.uint8)


def tic_tac_toe():
    """UCI's Tic-Tac-Toe Endgame: the 958 boards that end a game in which x began; does x win?"""
    boards, labels = [], []
    for board in product("box", repeat=9):
        crosses, noughts = board.count("x"), board.count("o")
        wins = {p: any(all(board[i] == p for i in line) for line in LINES) for p in "xo"}
        by_x = wins["x"] and not wins["o"] and crosses == noughts + 1
        by_o = wins["o"] and not wins["x"] and crosses == noughts
        draw = not wins["x"] and not wins["o"] and crosses == 5 and noughts == 4
        if by_x or by_o or draw:
            boards.append(["box".index(place) for place in board])
            labels.append(int(by_x))
    return one_hot(np.array(boards)), np.array(labels)


def monks(number):
    """The whole domain of one of UCI's three MONK's problems, without noise: 432 rows."""
    rows = np.array(list(product(*(range(1, n + 1) for n in (3, 3, 2, 3, 4, 2)))))
    a1, a2, _, a4, a5, _ = rows.T
    rules = {
        1: (a1 == a2) | (a5 == 1),
        2: (rows == 1).sum(axis=1) == 2,
        3: ((a5 == 3) & (a4 == 1)) | ((a5 != 4) & (a2 != 3)),
    }
    return one_hot(rows), rules[number].astype(int)


def balance_scale():
    """UCI's Balance Scale: 625 rows, which side is heavier; every ``x <= v`` is a column."""
    rows = np.array(list(product(range(1, 6), repeat=4)))
    tilt = rows[:, 0] * rows[:, 1] - rows[:, 2] * rows[:, 3]
    columns = [column <= value for column in rows.T for value in range(1, 5)]
    return np.column_stack(columns).astype(np.uint8), np.sign(tilt) + 1


def at_quantiles(X, n=4):
    """A 0/1 column for each of `n` quantiles of each column."""
    cuts = np.quantile(X, np.arange(1, n + 1) / (n + 1), axis=0, method="lower")
    columns = [X[:, j] <= cut for j in range(X.shape[1]) for cut in np.unique(cuts[:, j])]
    return np.column_stack(columns).astype(np.uint8)


NUMERIC = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer}
BINARY = {
    "tic-tac-toe": tic_tac_toe,
    "monks 1": lambda: monks(1),
    "monks 2": lambda: monks(2),
    "monks 3": lambda: monks(3),
    "balance scale": balance_scale,
}


def load_public(name):
    """Table and labels: 0/1 columns of a set of `BINARY`, or of one of `NUMERIC` at quantiles."""
    if name in BINARY:
        return BINARY[name]()
    X, y = load_numeric(name)
    return at_quantiles(X), y


def load_numeric(name):
    return NUMERIC[name](return_X_y=True)
