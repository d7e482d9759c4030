"""Where the "doc" link of an estimator's HTML representation leads."""


class DocLinkMixin:
    """Link to the estimator's page in the reference; scikit-learn reads both attributes."""

    _doc_link_module = "sktree_opt"
    _doc_link_template = (
        "https://sktree-opt.readthedocs.io/en/latest/api/generated/"
        "{estimator_module}.{estimator_name}.html"
    )
