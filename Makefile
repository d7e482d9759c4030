# Each target sets up what it needs in .venv; the second time it only rebuilds what changed.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { echo $$p; break; }; done)
VENV ?= .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
CPP := $(shell find benchmarks sktree_opt -name '*.hpp' -o -name '*.cpp')
SOURCES := $(shell find sktree_opt -name '*.pyx' -o -name '*.pxd' -o -name '*.hpp' -o -name '*.cpp')
PYTEST_ARGS ?=
GUARD_ARGS ?=
FIGURES_ARGS ?=
TRUST_ARGS ?=
SPHINX_ARGS ?=
export MPLBACKEND := Agg
.NOTPARALLEL:

.PHONY: quickstart test lint format docs bench bench-page figures guard fuzz fuzz-readers soak faults sanitize \
	peers trust clean

quickstart: $(VENV)/.extra-plot $(VENV)/.built
	$(PY) examples/quickstart.py

test: $(VENV)/.extra-test $(VENV)/.built
	$(PY) -m pytest -n 2 $(PYTEST_ARGS)

lint: $(VENV)/.extra-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/cython-lint sktree_opt
	$(BIN)/clang-format --dry-run -Werror $(CPP)
	VENV=$(VENV) .ci/tidy
	$(BIN)/mypy
	$(BIN)/codespell
	$(BIN)/towncrier build --draft --version next > /dev/null
	$(BIN)/sphinx-lint doc/*.rst doc/api/*.rst doc/developers doc/user_guide README.md CONTRIBUTING.md
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/zizmor --offline --quiet .github/workflows

format: $(VENV)/.extra-lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP)

docs: $(VENV)/.extra-docs $(VENV)/.built
	$(PY) -m sphinx -W --keep-going -j 2 $(SPHINX_ARGS) -b html doc doc/_build/html
	$(PY) .ci/links.py doc/_build/html

bench: $(VENV)/.extra-bench $(VENV)/.built
	set -e; for script in benchmarks/bench_*.py; do $(PY) $$script; done

# The tables and the figure of the benchmark page, about five minutes. What the figure shows is measured
# again if SKTREE_OPT_DATA names a folder with its tables.
bench-page: $(VENV)/.extra-bench $(VENV)/.built
	$(PY) benchmarks/page.py
	$(PY) benchmarks/figures.py $(if $(SKTREE_OPT_DATA),--measure)

# The pictures of README.md; FIGURES_ARGS=--measure repeats the measurement.
figures: $(VENV)/.extra-bench $(VENV)/.built
	$(PY) benchmarks/figures.py $(FIGURES_ARGS)

# Speed and memory beside those of an earlier commit: make guard GUARD_ARGS=--quick
guard: $(VENV)/.extra-test $(VENV)/.built
	$(PY) benchmarks/guard.py $(GUARD_ARGS)

# Random tables against brute force; SEED is that of the first one.
MINUTES ?= 10
SEED ?= 0
fuzz: $(VENV)/.extra-test $(VENV)/.built
	$(PY) -m tests.fuzz --minutes $(MINUTES) --seed $(SEED)

# Trees, tables and checkpoints of others, damaged as coverage guides.
fuzz-readers: $(VENV)/.extra-fuzz $(VENV)/.built
	set -e; for reader in json table checkpoint; do \
		$(PY) -m tests.fuzz_readers $$reader --minutes $(MINUTES); done

# The same fits in two threads: other answers, or memory that grows.
soak: $(VENV)/.extra-test $(VENV)/.built
	$(PY) -m tests.soak --minutes $(MINUTES)

# Allocations that fail at many sizes, forks, Ctrl-C at 200 moments, callbacks that fail, workers
# that die.
faults: $(VENV)/.extra-test $(VENV)/.built
	SKTREE_OPT_FAULTS=1 $(PY) -m pytest -n 2 -o faulthandler_timeout=0 \
		tests/test_faults.py tests/test_interrupts.py tests/utils/test_forks.py
	$(PY) -m pytest -n 2 tests -k "ctrl_c or interrupt or callback or distributed"

# Addresses and undefined behaviour, then threads, on builds of their own; an hour or two.
sanitize: $(VENV)/.extra-test
	VENV=$(VENV) MINUTES=$(MINUTES) .ci/sanitize address,undefined
	VENV=$(VENV) MINUTES=$(MINUTES) .ci/sanitize thread

# Agreement with other solvers on public sets.
peers: $(VENV)/.extra-test $(VENV)/.built
	$(MAKE) $(VENV)/.extra-bench || echo "Some solvers cannot be installed here: their tests are skipped." >&2
	SKTREE_OPT_LONG_TESTS=1 $(PY) -m pytest -n 2 -q tests/peers -k public

# The figures of the page on trust: make trust TRUST_ARGS="--only fuzz soak"
trust: $(VENV)/.extra-test $(VENV)/.built
	$(PY) benchmarks/trust.py $(TRUST_ARGS)

clean:
	rm -rf $(VENV) build build-* doc/_build doc/auto_examples doc/api/generated *.egg-info
	find sktree_opt -name '*.so' -delete

$(VENV)/.python:
	@test -n "$(PYTHON)" || { echo "CPython 3.11 or newer, with pip and venv, is needed: make PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; v = sys.version.split()[0]; sys.exit(sys.version_info < (3, 11) and f"Python {v} is too old: 3.11 or newer is needed (make PYTHON=...)")'
	$(PYTHON) -m venv $(VENV)
	touch $@

# $(call requirements,<list of them in pyproject.toml>): installs them, so that versions stand once.
define requirements
	$(PY) -c 'import tomllib; pyproject = tomllib.load(open("pyproject.toml", "rb")); \
	print(*$(1), sep="\n")' > $@.txt
	$(PY) -m pip install -qq --requirement $@.txt
	touch $@
endef

# Built without isolation, so that headers stay where the next build looks for them.
$(VENV)/.build-requires: $(VENV)/.python pyproject.toml
	$(call requirements,pyproject["build-system"]["requires"])

# Without building; the type checker reads the dependencies.
$(VENV)/.extra-lint: $(VENV)/.python pyproject.toml
	$(call requirements,pyproject["project"]["dependencies"] + pyproject["project"]["optional-dependencies"]["lint"])

# It builds in place too.
$(VENV)/.installed: $(VENV)/.build-requires setup.py
	$(PY) -m pip install -qq --no-build-isolation --editable .
	touch $@ $(VENV)/.built

# Of what is installed: nothing is built again for the sake of an extra.
$(VENV)/.extra-%: $(VENV)/.installed
	$(PY) -m pip install -qq "sktree-opt[$*]"
	touch $@

$(VENV)/.built: $(VENV)/.build-requires setup.py $(SOURCES)
	$(PY) setup.py --quiet build_ext --inplace
	touch $@
