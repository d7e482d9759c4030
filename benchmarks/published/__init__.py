"""Tables and figures of the papers, one file for each paper; ``papers.py`` runs them.

Reading order: ``sets`` (where the data come from), ``common`` (folds, times, tests, the papers'
numbers), then any paper: ``icml2017`` (000), ``jmlr2019`` (001), ``notes`` (002), ``dl8`` (003),
``murtree`` (004). A paper is a module with two dictionaries, ``TABLES`` and ``FIGURES``, of
functions by number. A function takes the options of the command line, prints, and returns the
figure to save, or None. The text file of the same name holds the numbers of the paper.
"""
