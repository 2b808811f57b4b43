# Everything happens in .venv. Each target sets up what it needs, once.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check -q

# What pyproject.toml asks for in [build-system].
BUILD_NEEDS := 'scikit-build-core>=0.11' 'nanobind>=2.4,<4'

# Where the real datasets are looked for; tests that need them skip, and say so, without it.
ifneq ($(wildcard ../shared/data),)
export HIETAN_DATA ?= $(shell cd ../shared/data && pwd)
endif

# The tests start many processes: each would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install demo docs packed-data wheel sbom oldest test quick explore coverage test-browser pictures faults lint lint-python lint-cpp lint-js format format-cpp format-js sanitize kernel-32 free-threaded bench accuracy reproduction clean FORCE

help:  ## list the targets
	@sed -nE 's/^([a-z0-9-]+):[^#]*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

install: $(VENV)/.installed $(VENV)/.development  ## set up .venv with the package, its kernel and the development tools

demo: $(VENV)/.installed  ## nine methods on real ageing genes: a table, the genes ranked with reasons, and out/report.html
	$(BIN)/hietan demo --jobs 2 --report out/report.html

docs: $(VENV)/.installed  ## the documentation site, warnings being errors and every example of the gallery run: out/docs/index.html
	@$(PIP) install --group docs
	rm -rf docs/generated out/docs
	$(BIN)/python -m sphinx -W --keep-going -q -d out/docs-cache docs out/docs
	@echo "out/docs/index.html"

packed-data: install  ## rebuild the ageing genes that come with the package; needs the published files (HIETAN_DATA)
	$(BIN)/python -m reproduction.packed_data

# Two processes on two cores: threads of BLAS would only wait for each other. `make coverage` has them, and all examples.
ONE_THREAD := OMP_NUM_THREADS=1

test: install  ## run the test suite with fewer examples than coverage, and without what takes patience
	$(ONE_THREAD) HYPOTHESIS_PROFILE=short $(BIN)/python -m pytest -n 2 -m 'not patient'

quick: install  ## under a minute: fewer examples, and no clusters, real datasets or slow studies
	$(ONE_THREAD) HYPOTHESIS_PROFILE=quick $(BIN)/python -m pytest -n 2 -q -m 'not (cluster or real or slow or patient)'

explore: install  ## the properties on ten times as many examples, new ones in every run
	HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest -n 2 -q -m 'not (cluster or patient)'

coverage: install  ## run every test, and report the lines and branches that no test takes
	$(BIN)/python -m pytest -n 2 --cov --cov-report=term

test-browser: install $(VENV)/.notebook  ## the report in a real browser, wide and narrow, light and dark, and in a Jupyter server; pictures in out/browser
	tests/browser/set_up.sh
	$(BIN)/python tests/browser/make_pages.py
	HIETAN_PYTHON=$(BIN)/python node --test --test-reporter=spec tests/browser/*.test.js

# Genes that are in the package; the picture of candidates needs the published files (HIETAN_DATA).
PICTURED := --data worm-BP $(foreach method,tan hie-tan-lite hie-ban hie-logistic logistic-l2-balanced,--methods $(method))
SEVERAL  := $(foreach data,worm-MF worm-CC fly-MF fly-CC,--data $(data)) --methods bayes
GO_2019  := $(HIETAN_DATA)/go-2019
PAGES    := out/browser/pages

pictures: install  ## the pictures of the README and of docs/report.md, from real genes
	tests/browser/set_up.sh
	rm -rf $(PAGES) && mkdir -p $(PAGES)
	$(BIN)/python docs/images/make.py open
	$(BIN)/python docs/images/make.py ranked
	$(BIN)/python docs/images/make.py tree
	$(BIN)/hietan study $(PICTURED) --rows daf-16 --rows bec-1 --no-figures -q -j 2 -o $(PAGES)/worm
	$(BIN)/hietan study $(SEVERAL) --no-figures -q -j 2 -o $(PAGES)/several
	$(BIN)/python -c "from hietan.datasets import load_ageing_genes as load; load('worm').save('$(PAGES)/worm.hietan')"
	$(BIN)/hietan build --ontology $(GO_2019)/GeneOntology_2019.01.29.obo.gz \
		--annotations $(GO_2019)/GO.goa_worm_2019.01.29.gz --like $(PAGES)/worm.hietan -q -o $(PAGES)/genome.hietan
	for method in hie-tan-lite hie-logistic; do \
		$(BIN)/hietan fit worm-BP -m $$method -q -o $(PAGES)/$$method.hietan || exit 1; done
	$(BIN)/hietan predict $(PAGES)/hie-tan-lite.hietan $(PAGES)/genome.hietan --also $(PAGES)/hie-logistic.hietan \
		--report -q -o out/browser/genome.csv
	cp $(PAGES)/worm/report.html out/browser/worm.html
	cp $(PAGES)/several/report.html out/browser/several.html
	node tests/browser/pictures.js docs/images
	$(BIN)/python docs/images/make.py shrink

FAULTS_SEED ?= $(shell date +%Y%m%d)
FAULTS_FULL := HIETAN_KILLS=100 HIETAN_FULL_DISKS=50 HIETAN_DAMAGES=100 HIETAN_MUTATIONS=10000 \
	HIETAN_FORGERIES=6 HIETAN_THREAD_ROUNDS=10

faults: install  ## kill commands, fill disks, damage, forge and mutate files, and count what is lost: into docs/reliability.md (3 minutes)
	rm -rf out/faults
	@echo "seed $(FAULTS_SEED); repeat with FAULTS_SEED=$(FAULTS_SEED)"
	$(FAULTS_FULL) HIETAN_SEED=$(FAULTS_SEED) HIETAN_FAULTS=out/faults $(BIN)/python -m pytest -n 2 -q -rP \
		tests/faults tests/test_forged_files.py tests/test_threads.py
	$(BIN)/python -m reproduction.reliability

lint: lint-python lint-cpp lint-js  ## check the style and the types of all code: Python, C++ and JavaScript

lint-python: install  ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: install  ## format the code and mend what ruff can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The report's scripts and styles, and their tests.
JS       := src/hietan/report/page tests/browser
JS_TOOLS := tests/browser/node_modules/.bin

lint-js:  ## prettier and eslint on the report's scripts and styles; needs Node.js
	tests/browser/set_up.sh tools
	$(JS_TOOLS)/prettier --check $(JS)
	$(JS_TOOLS)/eslint --config tests/browser/eslint.config.js $(JS)

format-js:  ## format the report's scripts and styles; needs Node.js
	tests/browser/set_up.sh tools
	$(JS_TOOLS)/prettier --write $(JS)

CPP_FILES   := $(wildcard kernel/*.hpp kernel/*/*.hpp kernel/*/*.cpp benchmarks/*/*.cpp)
CPP_INCLUDE  = -Ikernel $(shell $(BIN)/python -c "import nanobind, sysconfig as s; \
	print('-isystem', nanobind.include_dir(), '-isystem', s.get_path('include'))")

NANOBIND_SOURCE = $(shell $(BIN)/python -c "import nanobind, pathlib; p = pathlib.Path(nanobind.__file__).parent; \
	print('-isystem', p / 'ext/robin_map/include', p / 'src/nb_combined.cpp')")

lint-cpp: install  ## clang-format and clang-tidy over the kernel
	$(BIN)/clang-format --dry-run --Werror $(CPP_FILES)
	printf '%s\n' $(filter %.cpp,$(CPP_FILES)) | \
		xargs -P 2 -I FILE $(BIN)/clang-tidy --quiet FILE -- -std=c++17 $(CPP_INCLUDE)

format-cpp: install  ## format the kernel
	$(BIN)/clang-format -i $(CPP_FILES)

FUZZ_CASES ?= 1000000
FUZZ_SEED  ?= $(shell date +%s)

SANITIZED := -std=c++17 -O1 -g -ffp-contract=off -Wall -Wextra -Wpedantic -fsanitize=address,undefined -fno-sanitize-recover
BUILT     := out/sanitized
OBJECTS   := $(patsubst kernel/%.cpp,$(BUILT)/%.o,$(wildcard kernel/bindings/*.cpp kernel/tests/*.cpp))

# In a domain of its own, the extension shares no types with the installed one, with which it is compared in a process.
# It brings no runtime of the address sanitizer: that of GCC is loaded before Python.
UNDER_SANITIZERS = ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so.6)"
PROGRAMS := tests/support/programs

sanitize: install  ## the kernel's C++ tests and a million calls of its bindings (FUZZ_CASES) under the address and undefined-behaviour sanitizers
	$(MAKE) -j 2 $(BUILT)/kernel-tests $(BUILT)/_kernel.so
	$(BUILT)/kernel-tests
	$(UNDER_SANITIZERS) $(BIN)/python $(PROGRAMS)/fuzz_kernel.py --cases $(FUZZ_CASES) --seed $(FUZZ_SEED) --extension $(BUILT)/_kernel.so

$(BUILT)/kernel-tests: $(filter $(BUILT)/tests/%,$(OBJECTS))
	$(CXX) $(SANITIZED) $^ -o $@

$(BUILT)/_kernel.so: $(filter $(BUILT)/bindings/%,$(OBJECTS)) $(BUILT)/nanobind.o
	$(CXX) $(SANITIZED) -shared $^ -o $@

$(OBJECTS): $(BUILT)/%.o: kernel/%.cpp $(CPP_FILES)
	@mkdir -p $(@D)
	$(CXX) $(SANITIZED) -fPIC -fvisibility=hidden -DNB_DOMAIN=sanitized $(CPP_INCLUDE) -c $< -o $@

$(BUILT)/nanobind.o: $(VENV)/.tools
	@mkdir -p $(@D)
	$(CXX) $(SANITIZED) -fPIC -fvisibility=hidden $(CPP_INCLUDE) $(NANOBIND_SOURCE) -c -o $@

# Zig brings the C and C++ libraries of its targets, so this machine needs no 32-bit ones. Doubles are computed in SSE
# registers, as on 64-bit machines: in those of x87 they would be rounded differently.
ZIG      := $(BIN)/python -m ziglang
NARROW   := -target x86-linux-musl -static -msse2 -mfpmath=sse -std=c++17 -O1 -ffp-contract=off -Wall -Wextra -Wpedantic
BUILT_32 := out/32-bit/kernel-tests

kernel-32: $(BUILT_32)  ## the kernel's C++ tests as a 32-bit program, in which sizes have half the bits; needs Linux on x86-64
	$(BUILT_32)

$(BUILT_32): $(VENV)/.zig $(CPP_FILES)
	@mkdir -p $(@D)
	$(ZIG) c++ $(NARROW) -Ikernel $(wildcard kernel/tests/*.cpp) -o $@

$(VENV)/.zig: pyproject.toml | $(VENV)/.tools
	@echo "Installing Zig, a compiler for other machines."
	@$(PIP) install --group zig
	@touch $@

# A Python without the GIL, 3.13 or later: one whose build was configured with --disable-gil.
PYTHON_FT ?= python3.13t
FT_VENV   := .venv-free-threaded
FT_NEEDS  := $(BUILD_NEEDS) cmake ninja 'numpy>=1.26.4' 'scipy>=1.13' 'scikit-learn>=1.6' \
	'joblib>=1.4' 'threadpoolctl>=3.1' 'hypothesis>=6.100' 'pytest>=8' 'pytest-xdist>=3.5'
FT_ROUNDS ?= 5

free-threaded:  ## many threads on one model, and the kernel's tests, in a Python without the GIL (PYTHON_FT=python3.13t)
	@$(PYTHON_FT) -c "import sys, sysconfig; sys.exit(not sysconfig.get_config_var('Py_GIL_DISABLED'))" || \
		{ echo "$(PYTHON_FT) is not a free-threaded Python: set PYTHON_FT to one (3.13 or later, built with --disable-gil)."; exit 1; }
	@test -x $(FT_VENV)/bin/python || $(PYTHON_FT) -m venv $(FT_VENV)
	@$(FT_VENV)/bin/python -m pip --disable-pip-version-check -q install --only-binary :all: $(FT_NEEDS)
	@PATH="$$PWD/$(FT_VENV)/bin:$$PATH" $(FT_VENV)/bin/python -m pip --disable-pip-version-check -q install --no-build-isolation --no-deps -e .
	PYTHON_GIL=0 HIETAN_THREAD_ROUNDS=$(FT_ROUNDS) $(FT_VENV)/bin/python -m pytest -q tests/test_threads.py tests/kernel

# What packaging/check.sh runs against an installed package. `make wheel MARKS=` runs everything.
MARKS ?= not (cluster or patient or real)

# All files of a wheel get the time of the commit, so that a second build gives the same bytes.
wheel: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct)
wheel: $(VENV)/.tools  ## build wheel and sdist, install each into a fresh environment elsewhere and run the tests against it
	rm -rf dist
	PATH="$$PWD/$(BIN):$$PATH" $(PIP) wheel --no-build-isolation --no-deps -C build-dir=build/wheel -w dist .
	$(BIN)/python -c "from scikit_build_core.build import build_sdist; print(build_sdist('dist'))"
	PYTHON=$(abspath $(BIN)/python) MARKS="$(MARKS)" packaging/check.sh dist/*.whl
	PYTHON=$(abspath $(BIN)/python) MARKS="$(MARKS)" packaging/check.sh dist/*.tar.gz

SBOM_VENV := .venv-sbom

sbom: $(VENV)/.tools  ## list everything that a user installs with the wheel in dist (CycloneDX): out/hietan.cdx.json
	mkdir -p out
	test -x $(SBOM_VENV)/bin/python || $(BIN)/python -m venv $(SBOM_VENV)
	$(SBOM_VENV)/bin/python -m pip --disable-pip-version-check -q install "hietan[all] @ file://$$(ls $$PWD/dist/*.whl)"
	$(PIP) install cyclonedx-bom==7.5.0
	$(BIN)/cyclonedx-py environment $(SBOM_VENV)/bin/python --pyproject pyproject.toml --output-reproducible -o out/hietan.cdx.json

OLDEST_VENV   := .venv-oldest
PYTHON_OLDEST ?= python3.11
OLDEST_TESTS  ?= tests
# Old libraries use what newer ones, which they do not bound, call deprecated.
OLDEST_WARNINGS := -W ignore::DeprecationWarning -W ignore::PendingDeprecationWarning -W ignore::FutureWarning

oldest: $(VENV)/.tools  ## the quick tests with the oldest version of every dependency (PYTHON_OLDEST=python3.11)
	test -x $(OLDEST_VENV)/bin/python || $(PYTHON_OLDEST) -m venv $(OLDEST_VENV)
	$(BIN)/python packaging/oldest.py all test > $(OLDEST_VENV)/requirements.txt
	$(OLDEST_VENV)/bin/python -m pip --disable-pip-version-check -q install -r $(OLDEST_VENV)/requirements.txt cmake ninja
	PATH="$$PWD/$(OLDEST_VENV)/bin:$$PATH" $(OLDEST_VENV)/bin/python -m pip --disable-pip-version-check -q install \
		--no-build-isolation --no-deps --force-reinstall -C build-dir=build/oldest .
	HYPOTHESIS_PROFILE=quick $(OLDEST_VENV)/bin/python -m pytest -n 2 -q -m 'not (cluster or real or slow or patient)' \
		$(OLDEST_WARNINGS) $(OLDEST_TESTS)

accuracy: install  ## every method and its peers on the ageing-gene datasets, into docs/accuracy.* (hours; needs the dependency group peers)
	$(BIN)/python -m reproduction.accuracy

reproduction: install  ## the paper's experiment and its claims, into docs/reproduction.* and docs/open-points.md; two hours of processor time; resumes if interrupted
	OMP_NUM_THREADS=1 $(BIN)/python -m reproduction.paper

clean:  ## remove .venv and everything built
	rm -rf .venv .venv-* build dist out docs/generated .coverage* htmlcov .mypy_cache .pytest_cache .ruff_cache .hypothesis

# The build tools come first, so that the package itself builds without isolation and, later, without network.
$(VENV)/.tools: pyproject.toml
	@$(PYTHON) packaging/prerequisites.py
	@echo "Setting up $(VENV): a few minutes, once."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install --upgrade 'pip>=25.1'  # the first that knows dependency groups
	@$(PIP) install $(BUILD_NEEDS) cmake ninja
	@touch $@

# The editable install maps module names to files: it is renewed when a file comes or goes, not at every edit.
$(VENV)/.sources: FORCE | $(VENV)/.tools
	@find src -name '*.py' | LC_ALL=C sort | cmp -s - $@ || find src -name '*.py' | LC_ALL=C sort > $@

$(VENV)/.installed: $(VENV)/.tools $(VENV)/.sources pyproject.toml CMakeLists.txt $(wildcard kernel/*.hpp kernel/*/*.hpp kernel/bindings/*.cpp)
	@echo "Building the kernel, installing the package and what it needs."
	@PATH="$$PWD/$(BIN):$$PATH" $(PIP) install --no-build-isolation -e '.[all]'
	@touch $@

$(VENV)/.development: pyproject.toml | $(VENV)/.installed
	@echo "Installing the tools for tests, lint and types."
	@$(PIP) install --group dev
	@touch $@

# Without it, the tests that need Jupyter are skipped, and say so.
$(VENV)/.notebook: pyproject.toml | $(VENV)/.installed
	@echo "Installing Jupyter for the tests of notebooks."
	@$(PIP) install --group notebook || echo "Jupyter: not installed"
	@touch $@

# The peers live in an environment of their own; one that does not install is named in the report.
BENCH_VENV := .venv-bench
PEERS      := pyagrum pgmpy

bench: install $(PEERS:%=$(BENCH_VENV)/.%)  ## time and memory against the floor and peers, at scale, and how they grow: into benchmarks/LOG.md (10 minutes)
	$(BIN)/python benchmarks

$(BENCH_VENV)/bin/python:
	$(PYTHON) -m venv $(BENCH_VENV)

$(BENCH_VENV)/.%: | $(BENCH_VENV)/bin/python
	$(BENCH_VENV)/bin/python -m pip --disable-pip-version-check -q install $* pandas && touch $@ || echo "$*: not installed"
