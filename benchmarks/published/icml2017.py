"""S. Ruggieri, "Enumerating Distinct Decision Trees", ICML 2017.

Figures 1 and 3 are those of 001 (1; 4 and 5). Trees, folds and searches are those of ``methods``.
"""

from functools import partial

import numpy as np

from published import jmlr2019
from published.common import cell_of, draw_lines, limit_of, mean_of, new_axes, numbers
from published.methods import Settings, c45_tree, fold_outcomes
from published.sets import load_raw, raw_names, raw_sets

# All features; SBE that stops at ties, without and with the optimization; the best subset.
METHODS = ("baseline", "PSBE", "SBE_2017", "DTaccept_0")
QUICK = ("Hypo", "Ionosphere", "Anneal", "Sonar", "Clean1")
SMALL_SETS = ("Letter", "Hypo", "Ionosphere", "Soybean", "Anneal", "Sonar")


def outcomes_of(options, X, y, m, methods):
    """Outcomes by method over folds: five times ten, quick three of ten."""
    settings = Settings(c45_tree(m), time_limit=limit_of(options, 10.0, 3600.0))
    repeats = options.repeats or (1 if options.quick else 5)
    n_folds = options.folds or (3 if options.quick else None)
    return fold_outcomes(X, y, methods, settings, repeats, n_folds, 1)


def table_1(options):
    """PSBE against SBE: seconds, their ratio, and errors in percent, each with the paper's."""
    print("(paper in brackets; errors of all features, of SBE, of the best subset)")
    names = numbers("icml2017", "table 1 seconds")
    for name, X, y in raw_sets(options, names, QUICK):
        methods = METHODS
        if options.quick and name not in QUICK[:4]:
            methods = METHODS[:3]
        found = outcomes_of(options, X, y, 2, methods)
        seconds = {k: np.mean([o.seconds for o in found[k]]) for k in ("PSBE", "SBE_2017")}
        finished = sum(o.is_finished for o in found["SBE_2017"])
        line = f"{name:11}"
        for label, method in (("PSBE", "PSBE"), ("SBE", "SBE_2017")):
            cell = cell_of("icml2017", "table 1 seconds", name, label)
            line += f" {label} {seconds[method]:.3f} s ({cell})"
        cell = cell_of("icml2017", "table 1 seconds", name, "ratio")
        line += f" ratio {seconds['PSBE'] / seconds['SBE_2017']:.3f} ({cell})"
        print(f"{line} SBE finished {finished}/{len(found['SBE_2017'])}")
        print(f"{'':11} errors: " + ", ".join(error_cells(name, found)), flush=True)


def error_cells(name, found):
    for label, method in (("baseline", "baseline"), ("SBE", "PSBE"), ("optimal", "DTaccept_0")):
        cell = cell_of("icml2017", "table 1 error", name, label)
        if method in found:
            errors = np.array([outcome.error for outcome in found[method]])
            mean, deviation = mean_of(cell)
            apart = mean is not None and abs(errors.mean() - mean) > deviation / 2
            yield f"{label} {errors.mean():.2f}±{errors.std():.2f} ({cell})" + (
                " apart" if apart else ""
            )


def figure_2(options):
    """Search spaces of Algorithm 2 by the order of the features."""
    return jmlr2019.figure_2(options)


def figure_3(options):
    """Adult: distinct trees by size and overhead; seconds are Figure 5 of 001."""
    return jmlr2019.figure_4(options)


def figure_4(options):
    """Overhead (the order of 2017 and of 2019) and seconds of DTdistinct, and search errors."""
    weights = jmlr2019.weights_of(options)
    names = raw_names(options, SMALL_SETS, SMALL_SETS[1:])
    figure, (left, centre, right) = new_axes("built / distinct", "seconds", "search error")
    overheads, seconds = {}, {}
    for order in ("frontier_cases", "frontier"):
        for name, found in jmlr2019.over_m(
            options, partial(jmlr2019.distinct_trees, order=order), *names
        ).items():
            overheads[f"{name}, {order}"] = [search.overhead_ for search, _ in found]
            seconds[f"{name}, {order}"] = [spent for _, spent in found]
            print(f"{name:12} {order:15}", *(f"{s.n_distinct_} {s.status_}" for s, _ in found))
    draw_lines(left, weights, overheads, "built / distinct, over m")
    print("  paper: from 1 to 1.35; Anneal under 20 s at m=16 and 270 s at m=8")
    draw_lines(centre, weights, seconds, "seconds, over m")
    centre.set(yscale="log")
    large = names[0] if options.sets else "Adult"
    draw_lines(right, weights, errors_over_m(options, large, "search_error"), f"{large}, percent")
    return figure


def errors_over_m(options, name, quantity):
    """Mean errors of all features, SBE and the best subset, over m."""
    X, y = load_raw(name)
    lines = {"top tree": [], "SBE": [], "optimal": []}
    for m in jmlr2019.weights_of(options):
        found = outcomes_of(options, X, y, m, ("baseline", "PSBE", "DTaccept_0"))
        for line, outcomes in zip(lines.values(), found.values(), strict=True):
            line.append(np.mean([getattr(outcome, quantity) for outcome in outcomes]))
    return lines


def figure_5(options):
    """Cross-validation errors of all features, SBE and the best subset, over m."""
    names = raw_names(options, ("Adult", "Ionosphere", "Anneal"), ("Ionosphere", "Anneal"))
    figure, axes = new_axes(*names)
    for axis, name in zip(axes, names, strict=True):
        lines = errors_over_m(options, name, "error")
        draw_lines(axis, jmlr2019.weights_of(options), lines, f"{name}, percent")
    return figure


TABLES = {1: table_1}
FIGURES = {1: jmlr2019.figure_1, 2: figure_2, 3: figure_3, 4: figure_4, 5: figure_5}
