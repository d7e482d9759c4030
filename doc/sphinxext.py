"""What the documentation derives from the code: links to sources and tables of registries."""

import importlib
import inspect
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList

import sktree_opt

SOURCES = "https://github.com/scikit-learn-contrib/sktree_opt/blob"


def linkcode_resolve(domain, info):
    """Address of the lines that define an object, None for what is compiled."""
    value = importlib.import_module(info["module"])
    try:
        for part in info["fullname"].split("."):
            value = getattr(value, part)
        value = inspect.unwrap(getattr(value, "fget", value))
        path = Path(inspect.getsourcefile(value))
        lines, first = inspect.getsourcelines(value)
        path = path.relative_to(Path(sktree_opt.__file__).parents[1])
    except (AttributeError, TypeError, OSError, ValueError):
        return None
    version = sktree_opt.__version__
    ref = "main" if "dev" in version else f"v{version}"
    return f"{SOURCES}/{ref}/{path.as_posix()}#L{first}-L{first + len(lines) - 1}"


class Registry(Directive):
    """``.. registry:: module:NAME`` is a list of a registry's keys and what each one is."""

    required_arguments = 1

    def run(self):
        module, _, name = self.arguments[0].partition(":")
        entries = getattr(importlib.import_module(module), name)
        lines = [
            f'- ``"{key}"``: {inspect.getdoc(entry).splitlines()[0]}'
            for key, entry in entries.items()
        ]
        container = nodes.container()
        self.state.nested_parse(StringList(lines, self.arguments[0]), 0, container)
        return container.children


def setup(app):
    app.add_directive("registry", Registry)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
