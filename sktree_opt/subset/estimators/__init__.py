"""The public estimators: they check what they are given, run a search and keep attributes.

Reading order: ``_base.py`` (parameters, one fit), ``_predictor.py`` (``predict``), ``_selector.py``
(``transform``), then one file for each estimator: ``_dtsbe_selector.py``, ``_acceptable.py`` and
``_enumerator.py``. ``_tree_iterator.py`` is what ``DistinctTreeEnumerator.iter_trees`` returns.
"""
