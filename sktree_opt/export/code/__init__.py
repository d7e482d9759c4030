"""A tree as code that needs neither the package nor numpy.

``_program.py`` turns a fitted tree into plain Python values. ``_one_row.py`` answers from them for
single rows; ``_procedures.py`` (Python and JavaScript), ``_c.py`` and ``_sql.py`` write them in a
language, which ``_export_code.py`` chooses by name.
"""
