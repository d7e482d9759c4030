"""One page of HTML for a tree or a set of trees.

Files in reading order: ``_tree_page.py`` gathers the data of a tree and fills ``page.html`` with
it, ``page.css`` and ``page.js``; ``_set_page.py`` and ``set.js`` do the same for a set of trees;
``_node_data.py`` has the texts and numbers of both.
"""
