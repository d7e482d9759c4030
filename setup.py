"""Build of the extension modules; everything else about the package is in pyproject.toml.

Environment variables
---------------------
SKTREE_OPT_DEBUG_DIRECTIVES=1
    Builds with the checks of Cython and of the C++ library on (bounds, None, uninitialised
    views); slow, for tests.
SKTREE_OPT_NO_OPENMP=1
    Builds without OpenMP, as on a compiler that lacks it: same answers, one thread.
SKTREE_OPT_SANITIZE=address,undefined
    Builds with sanitizers of gcc or clang, for `make sanitize`.
"""

import os
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, LinkError

PACKAGE = "sktree_opt"
DEBUG_DIRECTIVES = os.environ.get("SKTREE_OPT_DEBUG_DIRECTIVES", "0") != "0"
SANITIZE = os.environ.get("SKTREE_OPT_SANITIZE", "")
NO_OPENMP = os.environ.get("SKTREE_OPT_NO_OPENMP", "0") != "0"
# Generated code and objects of one variant must not be taken for those of another.
BUILD_BASE = "build" + "-debug" * DEBUG_DIRECTIVES + "-no-openmp" * NO_OPENMP
BUILD_BASE += "-" * bool(SANITIZE) + SANITIZE.replace(",", "-")

OPENMP_PROBE = """
#include <omp.h>
int main() {
    int n = 0;
    #pragma omp parallel for reduction(+:n)
    for (int i = 0; i < 8; ++i) n += omp_get_max_threads() > 0;
    return n == 8 ? 0 : 1;
}
"""


def openmp_candidates(compiler_type):
    """(compile, link) flags to try, in order."""
    if compiler_type == "msvc":
        return [(["/openmp"], [])]
    if sys.platform == "darwin":
        # Apple's clang needs the preprocessor spelling; libomp may come from the user's flags.
        return [(["-Xpreprocessor", "-fopenmp"], ["-lomp"]), (["-fopenmp"], ["-fopenmp"])]
    return [(["-fopenmp"], ["-fopenmp"])]


def probe_openmp(compiler):
    """Flags with which a small OpenMP program compiles and links; empty lists if none do."""
    if NO_OPENMP:
        return [], []
    for compile_flags, link_flags in openmp_candidates(compiler.compiler_type):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "probe.cpp")
            source.write_text(OPENMP_PROBE)
            try:
                objects = compiler.compile(
                    [str(source)], output_dir=folder, extra_postargs=compile_flags
                )
                compiler.link_executable(
                    objects, str(Path(folder, "probe")), extra_postargs=link_flags
                )
            except (CompileError, LinkError):
                continue
        return compile_flags, link_flags
    print("warning: no OpenMP found: the package will run on one thread", file=sys.stderr)
    return [], []


def compile_in_parallel(compile_sources):
    """Compile all sources of an extension at once, not one after the other."""

    def compile_all(sources, **settings):
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            parts = pool.map(lambda source: compile_sources([source], **settings), sources)
            return [path for part in parts for path in part]

    return compile_all


class BuildExtension(build_ext):
    """Builds on all cores, with the flags that depend on the compiler."""

    def finalize_options(self):
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def build_extensions(self):
        openmp_compile, openmp_link = probe_openmp(self.compiler)
        if self.compiler.compiler_type == "msvc":
            flags = ["/O2", "/std:c++17", "/EHsc"]
        else:
            # No fused multiply-add: the same sums, hence the same trees, on every machine.
            # Loops begin where vectors do: their time depends less on the code before them.
            # No debug symbols, which CPython's own flags ask for: they double the time to compile.
            flags = ["-O3", "-g0", "-std=c++17", "-ffp-contract=off", "-falign-loops=32", "-Wall"]
            # Warnings about generated code, which we cannot change.
            flags += ["-Wno-unused-function", "-Wno-unused-but-set-variable"]
            flags += ["-Wno-maybe-uninitialized", "-Wno-cpp"]
            if DEBUG_DIRECTIVES:
                flags += ["-O1", "-D_GLIBCXX_ASSERTIONS"]
            if SANITIZE:
                # The optimiser hides little at this level, and the larger headers still compile.
                flags += ["-O1", "-g1", "-fno-omit-frame-pointer", "-D_GLIBCXX_ASSERTIONS"]
                flags += [f"-fsanitize={SANITIZE}"]
                openmp_link = [*openmp_link, f"-fsanitize={SANITIZE}"]
        for extension in self.extensions:
            extension.extra_compile_args = flags + openmp_compile
            extension.extra_link_args = list(openmp_link)
        self.compiler.compile = compile_in_parallel(self.compiler.compile)
        super().build_extensions()


def kernel_sources(source):
    """C++ sources that compile the kernels of an engine, one for each instruction set.

    An engine has kernels if there is a folder of that name beside its .pyx. Each source is
    simd/<instruction set>.cpp, told which kernels to compile.
    """
    kernels, engine = source.parent / "kernels", source.parent.name.removesuffix("s")
    made = []
    for path in sorted(Path(PACKAGE, "simd").glob("*.cpp")) if kernels.is_dir() else []:
        text = (
            f'#define SKTREE_KERNEL_TYPES "{kernels.as_posix()}/{engine}_kernels.hpp"\n'
            f'#define SKTREE_KERNELS "{kernels.as_posix()}/compile_{engine}_kernels.hpp"\n'
            f'#include "{path.as_posix()}"\n'
        )
        target = Path(BUILD_BASE, "kernels", source.parent, path.name)
        if not target.exists() or target.read_text("utf-8") != text:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8")
        made.append(target.as_posix())
    return made


def headers_below(sources):
    """C++ files and declarations that some sources read, and those that these read."""
    found, unread = set(), list(sources)
    while unread:
        text = Path(unread.pop()).read_text("utf-8")
        named = re.findall(rf'"({PACKAGE}/[\w/]+\.[ch]pp)"', text)
        modules = re.findall(rf"\b({PACKAGE}(?:\.\w+)+) cimport", text)
        named += [f"{module.replace('.', '/')}.pxd" for module in modules]
        new = {path for path in named if Path(path).exists()} - found
        found |= new
        unread += new
    return sorted(found)


def extensions():
    """One extension for each .pyx; C++ headers are in the folder of the .pyx that includes them."""
    found = []
    for source in sorted(Path(PACKAGE).rglob("*.pyx")):
        sources = [source.as_posix(), *kernel_sources(source)]
        declarations = source.with_suffix(".pxd")
        read = [*sources, *([declarations.as_posix()] if declarations.exists() else [])]
        found.append(
            Extension(
                ".".join(source.with_suffix("").parts),
                sources,
                language="c++",
                include_dirs=[np.get_include(), "."],
                define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
                depends=headers_below(read),
            )
        )
    return found


DIRECTIVES = {
    "language_level": "3",
    "boundscheck": DEBUG_DIRECTIVES,
    "wraparound": DEBUG_DIRECTIVES,
    "initializedcheck": DEBUG_DIRECTIVES,
    "nonecheck": DEBUG_DIRECTIVES,
    "overflowcheck": False,
    "cdivision": True,
    "freethreading_compatible": True,
    "show_performance_hints": not DEBUG_DIRECTIVES,
}

if __name__ == "__main__":
    setup(
        ext_modules=cythonize(
            extensions(),
            compiler_directives=DIRECTIVES,
            build_dir=f"{BUILD_BASE}/cython",
            # Worker processes are safe to start from a build backend only where they fork.
            nthreads=os.cpu_count() if sys.platform == "linux" else 0,
        ),
        cmdclass={"build_ext": BuildExtension},
        options={"build": {"build_base": BUILD_BASE}},
    )
