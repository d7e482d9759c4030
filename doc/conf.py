"""Settings of the documentation."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import sktree_opt
from sphinxext import linkcode_resolve  # noqa: F401

project = "sktree_opt"
author = "The sktree_opt developers"
copyright = author  # noqa: A001
version = release = sktree_opt.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.linkcode",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinxext",
]
exclude_patterns = ["_build", "changelog.d"]
templates_path = ["_templates"]
default_role = "literal"

autosummary_ignore_module_all = False
autosummary_imported_members = True
numpydoc_show_class_members = False
# The sections of the docstrings say the types, in words.
autodoc_typehints = "none"

nitpicky = True
nitpick_ignore_regex = [
    (r"py:.*", r"(joblib|matplotlib|numpy|pandas|polars|scipy|sklearn)\b.*"),
    (r"py:class", r"(array-like|object|optional)"),
]
if "GITHUB_ACTIONS" in os.environ:  # a build without network has the same pages, fewer links
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
    }

html_theme = "pydata_sphinx_theme"
html_title = "sktree_opt"
# Pages of a single level have nothing to navigate.
html_sidebars = {
    name: []
    for name in ("benchmarks", "changelog", "cite", "comparison", "glossary", "index", "install")
}
html_logo = html_favicon = "images/logo.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {
    "logo": {"text": "sktree_opt"},
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 4,
    "secondary_sidebar_items": ["page-toc"],
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "subsection_order": [
        f"../examples/{name}" for name in ("optimal", "subset", "greedy", "export", "tables")
    ],
    "filename_pattern": r"\.py",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    # Their pages load scripts from the network.
    "write_computation_times": False,
}
