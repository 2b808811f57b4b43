# Everything happens in .venv. Each target sets up what it needs, once.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check -q

# Where the real datasets are looked for; tests that need them skip, and say so, without it.
ifneq ($(wildcard ../shared/data),)
export HIETAN_DATA ?= $(abspath ../shared/data)
endif

.DEFAULT_GOAL := help
.PHONY: help install demo test lint format bench bench-scale callgrind accuracy clean FORCE

help:  ## list the targets
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

install: $(VENV)/.installed  ## set up .venv with the package, its kernel and the development tools

demo: install  ## fit the TAN family on synthetic data and print a table
	$(BIN)/hietan demo

test: install  ## lint, type-check and run the test-suite with coverage
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 --cov --cov-report=term

lint: install  ## ruff and mypy alone
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: install  ## format the code and mend what ruff can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench-scale: install  ## whole genomes, 40,000 features and growth curves, into docs/performance.md
	$(BIN)/python benchmarks/bench_scale.py

callgrind: install  ## instructions of the kernel's steps against the expected ones; needs valgrind
	$(BIN)/python benchmarks/callgrind.py

accuracy: install  ## GMean and AUC of every method on the 28 ageing-gene datasets, into docs/accuracy.*
	$(BIN)/python benchmarks/accuracy.py

clean:  ## remove .venv and everything built
	rm -rf .venv .venv-* build dist out .coverage* htmlcov .mypy_cache .pytest_cache .ruff_cache .hypothesis

# The build tools come first, so that the package itself builds without isolation and, later, without network.
$(VENV)/.tools: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install 'scikit-build-core>=0.11' 'nanobind>=2.4' cmake ninja
	touch $@

# The editable install maps module names to files: it is renewed when a file comes or goes, not at every edit.
$(VENV)/.sources: FORCE | $(VENV)/.tools
	@find src -name '*.py' | LC_ALL=C sort | cmp -s - $@ || find src -name '*.py' | LC_ALL=C sort > $@

$(VENV)/.installed: $(VENV)/.tools $(VENV)/.sources pyproject.toml CMakeLists.txt $(wildcard kernel/*)
	PATH="$(abspath $(BIN)):$$PATH" $(PIP) install --no-build-isolation -e '.[test,lint]'
	touch $@

# The peers live in an environment of their own; one that does not install is named in the report.
BENCH_VENV := .venv-bench
PEERS      := pyagrum pgmpy

bench: install $(PEERS:%=$(BENCH_VENV)/.%)  ## time and memory against the floor and against peers; also in out/bench.md
	$(BIN)/python benchmarks

$(BENCH_VENV)/bin/python:
	$(PYTHON) -m venv $(BENCH_VENV)

$(BENCH_VENV)/.%: | $(BENCH_VENV)/bin/python
	$(BENCH_VENV)/bin/python -m pip --disable-pip-version-check -q install $* pandas && touch $@ || echo "$*: not installed"
