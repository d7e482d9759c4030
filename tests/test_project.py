"""House rules that a machine can check: see CONTRIBUTING.md."""

import ast
import importlib
import re
import sys
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

import pytest

import sktree_opt
from sktree_opt.utils import public_modules

ROOT = Path(__file__).parents[1]
PACKAGE = Path(sktree_opt.__file__).parent
MAX_FILE_LINES = 700
MAX_LINE_LENGTH = 100
MAX_FOLDER_FILES = 15
MAX_FUNCTION_LINES = 60

pytestmark = pytest.mark.skipif(
    not (ROOT / "setup.py").exists(), reason="needs a checkout of the project"
)

# What users choose from by name; the user guide has to tell each name.
REGISTRIES = [
    "sktree_opt.export:FORMATS",
    "sktree_opt.greedy._registries:CLASSIFICATION_PRUNINGS",
    "sktree_opt.greedy._registries:CLASSIFICATION_CRITERIA",
    "sktree_opt.greedy._registries:NOMINAL_SPLITS",
    "sktree_opt.greedy._registries:REGRESSION_PRUNINGS",
    "sktree_opt.greedy._registries:REGRESSION_CRITERIA",
    "sktree_opt.optimal.objectives._metrics:METRICS",
    "sktree_opt.optimal.objectives._leaf_objectives:OBJECTIVES",
    "sktree_opt.optimal.objectives._leaf_objectives:REGRESSION_OBJECTIVES",
    "sktree_opt.preprocessing._binary_tests:CATEGORICAL_SPLITS",
    "sktree_opt.preprocessing._discretizer:ENCODINGS",
    "sktree_opt.preprocessing._thresholds:THRESHOLDS",
    "sktree_opt.subset.errors:ERROR_ESTIMATES",
]


def project_files(*suffixes):
    folders = [ROOT / name for name in ("sktree_opt", "tests", "examples", "benchmarks", ".ci")]
    docs = [path for path in (ROOT / "doc").iterdir() if path.name in ("conf.py", "user_guide")]
    found = [ROOT / "setup.py"]
    for path in folders + docs:
        found += [path] if path.is_file() else path.rglob("*")
    return sorted(path for path in found if path.suffix in suffixes)


def relative(path):
    return path.relative_to(ROOT).as_posix()


def private_imports(text):
    """Imports of scikit-learn's private modules and names in Python or Cython source."""
    pattern = re.compile(
        r"^\s*(?:from\s+(sklearn[\w.]*)\s+c?import\s+(\([^)]*\)|[^\n]*)|c?import\s+(sklearn[\w.]*))",
        re.MULTILINE,
    )
    for match in pattern.finditer(text):
        module = match[1] or match[3]
        names = re.findall(r"(?:^|,)\s*(\w+)", (match[2] or "").strip("()"))
        if "._" in module or any(name.startswith("_") for name in names):
            yield match[0].strip()
    # Attributes that scikit-learn and joblib set.
    pattern = r"_skl_callbacks|_init_callback_context|_sklearn_output_config|_effective_n_jobs"
    yield from re.findall(rf"[.\"]({pattern})\b", text)


def test_private_imports_are_recognised():
    assert list(private_imports("from sklearn.utils._param_validation import Interval\n"))
    assert list(private_imports("    from sklearn.utils.validation import (\n a,\n _b,\n)\n"))
    assert list(private_imports("from sklearn.tree._tree cimport Node\n"))
    assert list(private_imports("import sklearn.tree._tree\n"))
    assert not list(private_imports("from sklearn.utils.validation import validate_data as _v\n"))
    assert not list(private_imports("from sklearn.base import BaseEstimator, clone\n"))
    assert list(private_imports("n = parallel._effective_n_jobs()\n"))


def test_private_scikit_learn_stands_in_one_file():
    found = {
        relative(path): list(private_imports(path.read_text("utf-8")))
        for path in project_files(".py", ".pyx", ".pxd")
        if path not in (PACKAGE / "utils" / "_compat.py", Path(__file__))
    }
    assert {name: imports for name, imports in found.items() if imports} == {}


def test_what_is_always_imported_is_a_dependency():
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    needed = {re.split("[<>=]", name)[0] for name in pyproject["project"]["dependencies"]}
    found = set()
    for path in PACKAGE.rglob("*.py"):
        # Only what stands at the top: what may be absent is imported in functions.
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add(node.module.partition(".")[0])
    found -= {"sktree_opt", *sys.stdlib_module_names}
    assert {"scikit-learn" if name == "sklearn" else name for name in found} <= needed


def package_sources():
    """The files of the package that somebody reads as code, without the declarations beside them.

    ``__init__.py`` is the page that opens a folder; a ``.pxd`` or ``.pyi`` declares the ``.pyx`` of
    the same name.
    """
    paths = [
        path for path in project_files(".py", ".pyx", ".hpp", ".cpp") if PACKAGE in path.parents
    ]
    generated = {path.with_suffix(".cpp") for path in paths if path.suffix == ".pyx"}
    return [path for path in paths if path.name != "__init__.py" and path not in generated]


def test_folders_are_small():
    sizes = Counter(relative(path.parent) for path in package_sources())
    assert {k: n for k, n in sizes.items() if n > MAX_FOLDER_FILES} == {}


def test_names_of_files_are_unique():
    folders = defaultdict(set)
    for path in package_sources():
        # A header beside a module of its name is the module's kernel.
        folders[path.stem].add(relative(path.parent))
    for name in ("_base", "_classifier", "_regressor"):
        del folders[name]
    assert {k: v for k, v in folders.items() if len(v) > 1} == {}


def test_headers_of_one_file_are_part_of_it():
    """Unless they are kernels: in folders of their own, or as their first lines say."""
    includers = defaultdict(set)
    for path in project_files(".hpp", ".cpp", ".pyx", ".pxd"):
        for name in re.findall(r'(?:#include|cdef extern from) "([^"]+)"', path.read_text("utf-8")):
            includers[name].add(relative(path))
    alone = {name: found.pop() for name, found in includers.items() if len(found) == 1}
    others = {
        name: by
        for name, by in alone.items()
        if by.endswith(".hpp")
        and "/kernels/" not in name
        and "Kernel: " not in (ROOT / name).read_text("utf-8").partition("#pragma once")[0]
    }
    assert len(alone) > 20
    assert others == {}


def test_folders_name_their_files():
    """In the text that opens them; that of a folder without one is the text of its parent."""
    missing = []
    for path in package_sources():
        folder = next(one for one in path.parents if (one / "__init__.py").exists())
        text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8")))
        if folder != PACKAGE and not re.search(rf"\b{path.stem}\b", text):
            missing.append(relative(path))
    assert missing == []


def test_words_to_avoid_are_not_used():
    """Those of the glossary that mean nothing else here."""
    words = "chunk|dive|family|floor|phase|probe|stripe|twin"
    glossary = (ROOT / "doc" / "glossary.rst").read_text("utf-8")
    assert all(f"*{word}" in glossary for word in words.split("|"))
    pattern = re.compile(rf"(?<![a-z])(?:{words})s?(?![a-z]|\()", re.IGNORECASE)
    allowed = re.compile(r"\w+\.combine_chunks|floor\(log2|with family")
    found = [
        f"{relative(path)}:{number}"
        for path in [*package_sources(), *PACKAGE.rglob("__init__.py"), *PACKAGE.rglob("*.pxd")]
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if pattern.search(allowed.sub("", line))
    ]
    assert found == []


def test_files_that_texts_name_exist():
    names = {path.name for path in project_files(".py", ".pyx", ".pxd", ".hpp")}
    # Without the generated ones.
    pages = [*ROOT.glob("doc/*.rst"), *ROOT.glob("doc/developers/*.rst")]
    pages += ROOT.glob("doc/user_guide/*.rst")
    found = [
        f"{relative(path)}: {match[0]}"
        for path in [*package_sources(), *PACKAGE.rglob("__init__.py"), *pages]
        for match in re.finditer(r"\b\w+\.(?:hpp|pyx|pxd)\b|\b_\w+\.py\b", path.read_text("utf-8"))
        if match[0] not in names
    ]
    assert found == []


def test_files_are_short():
    sources = project_files(".py", ".pyx", ".pxd", ".hpp", ".cpp")
    lengths = {relative(path): len(path.read_text("utf-8").splitlines()) for path in sources}
    assert {name: n for name, n in lengths.items() if n > MAX_FILE_LINES} == {}


def test_lines_of_kernels_are_short():
    # clang-format leaves comments as they are; ruff and cython-lint look at the other files.
    found = [
        f"{relative(path)}:{number}"
        for path in project_files(".hpp", ".cpp")
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if len(line) > MAX_LINE_LENGTH
    ]
    assert found == []


def python_functions(text):
    """Name and lines of each function of Python code, without its docstring."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            first = node.body[1:2] if ast.get_docstring(node) else node.body
            yield node.name, node.end_lineno - first[0].lineno + 1 if first else 0


def cython_functions(text):
    """Name and lines of each function of Cython code, without its signature and docstring."""
    text = re.sub(r'"""[^"]*"""\n', "", text)
    head = r"^( *)(?:c?p?def) (?!class)[^\n]*?(\w+)\((?:[^()]|\([^()]*\))*\)[^\n]*:\n"
    pattern = head + r"((?:(?:\1 +[^\n]*)?\n)+)"
    for _, name, body in re.findall(pattern, text, re.MULTILINE):
        yield name, body.rstrip().count("\n") + 1


def kernel_functions(text):
    """Head and lines of each block of C++ code that is not a class or a namespace."""
    opened, head = [], ""
    for number, line in enumerate(text.splitlines(), 1):
        line = re.sub(r"//.*|^#.*|'(\\.|[^'\\])'|\"(\\.|[^\"\\])*\"", "", line)
        for part in re.split(r"([{};])", line):
            if part == "{":
                opened.append((number, head.strip()))
            elif part == "}":
                first, name = opened.pop()
                if not re.match(r"(template.*> )?(class|struct|enum|union|namespace)\b", name):
                    yield name, number - first + 1
            head = "" if part in ("{", "}", ";") else f"{head} {part}"


def test_functions_are_short():
    lengths = {
        f"{relative(path)}: {name}": n_lines
        for functions, suffixes in (
            (python_functions, (".py",)),
            (cython_functions, (".pyx",)),
            (kernel_functions, (".hpp",)),
        )
        for path in project_files(*suffixes)
        for name, n_lines in functions(path.read_text("utf-8"))
    }
    assert max(lengths.values()) > MAX_FUNCTION_LINES / 2
    assert {name: n for name, n in lengths.items() if n > MAX_FUNCTION_LINES} == {}


def test_names_of_classes_are_unique():
    """A class of Cython has the name of the C++ class that it holds."""
    declarations = "".join(path.read_text("utf-8") for path in project_files(".pyx", ".pxd"))
    held = re.findall(r"cppclass Cpp(\w+) \"sktree_opt::[\w:]*\b\1\"", declarations)
    found = defaultdict(set)
    for path in package_sources():
        text = path.read_text("utf-8")
        pattern = r"(?:cdef )?(?:enum )?(?:class|struct) (\w+)(?:[(:][^;\n]*)?(?: :.*)?(?: \{|:)"
        # Classes of C++ inside others, too.
        pattern = (r"^ *" if path.suffix == ".hpp" else "^") + pattern
        for name in re.findall(pattern, text, re.MULTILINE):
            found[name].add(relative(path))
    assert len(found) > 300
    assert {k: v for k, v in found.items() if len(v) > 1 and k not in held} == {}


def test_no_path_of_one_machine():
    pattern = re.compile(r"[\"'\s=(](?:/(?:home|root|tmp|Users|work)/|[A-Z]:\\)\w")
    found = [
        f"{relative(path)}: {match[0]}"
        for path in project_files(".py", ".pyx", ".pxd", ".hpp", ".rst", ".md", ".csv")
        for match in pattern.finditer(path.read_text("utf-8"))
    ]
    assert found == []


def test_public_names_are_documented():
    page = (ROOT / "doc" / "api" / "index.rst").read_text("utf-8")
    modules = {module.__name__: getattr(module, "__all__", ()) for module in public_modules()}
    top = set(modules.pop("sktree_opt")) - {"__version__"}
    # The tables of the API pages are made from __all__; the module itself has to be listed.
    assert {name for name, names in modules.items() if names} == set(
        re.findall(r"^   (sktree_opt\.\w+)$", page, re.MULTILINE)
    )
    assert top <= {name for names in modules.values() for name in names}
    assert all(len(names) == len(set(names)) for names in modules.values())


@pytest.mark.parametrize("registry", REGISTRIES)
def test_registry_keys_are_in_the_user_guide(registry):
    pages = (ROOT / "doc" / "user_guide").rglob("*.rst")
    text = "\n".join(page.read_text("utf-8") for page in pages)
    module, _, name = registry.partition(":")
    keys = getattr(importlib.import_module(module), name)
    if f".. registry:: {registry}\n" not in text:
        assert [key for key in keys if f'"{key}"' not in text] == []


def test_extension_modules_have_honest_stubs():
    # Extension modules are private: one has a stub only where type checkers need it.
    assert all(source.stem.startswith("_") for source in PACKAGE.rglob("*.pyx"))
    for source in sorted(PACKAGE.rglob("*.pyx")):
        if not source.with_suffix(".pyi").exists():
            continue
        stub = ast.parse(source.with_suffix(".pyi").read_text("utf-8"))
        declared = {
            node.name: {getattr(member, "name", None) for member in getattr(node, "body", [])}
            for node in stub.body
            if isinstance(node, ast.ClassDef | ast.FunctionDef)
        }
        name = ".".join(source.relative_to(PACKAGE.parent).with_suffix("").parts)
        module = importlib.import_module(name)
        actual = {
            key: value
            for key, value in vars(module).items()
            if getattr(value, "__module__", None) == name and not key.startswith("_")
        }
        assert sorted(key for key in declared if not key.startswith("_")) == sorted(actual), name
        for key, value in actual.items():
            if isinstance(value, type):
                public = {member for member in vars(value) if not member.startswith("_")}
                stubbed = {member for member in declared[key] if member and member[0] != "_"}
                assert stubbed <= public, (name, key)


def test_parallel_regions_are_those_of_cython():
    found = [
        f"{relative(path)}: {match[0]}"
        for path in project_files(".pyx", ".pxd", ".hpp", ".cpp")
        for match in re.finditer(r"#\s*pragma omp|\bomp\.h\b|\bomp_\w+", path.read_text("utf-8"))
        if path.is_relative_to(PACKAGE)
    ]
    assert found == []


def test_changelog_fragments_have_a_known_type():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["towncrier"]
    kinds = "|".join(kind["directory"] for kind in settings["type"])
    fragments = [path for path in (ROOT / settings["directory"]).iterdir() if path.suffix == ".md"]
    names = {path.name for path in fragments if path.name != "README.md"}
    wrong = {name for name in names if not re.fullmatch(rf"\+?[\w-]+\.({kinds})(\.\d+)?\.md", name)}
    assert wrong == set()
    assert all(path.read_text("utf-8").strip() for path in fragments)
