# `make help` lists the targets. Needs make and a Python >= 3.10 with venv; everything else
# comes from PyPI into .venv. Another interpreter: make test PYTHON=python3.12

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
TESTS ?=
ROBOT ?=
OUT ?= demo_report
NAMES ?=
SEED ?=
COUNT ?= 40
ROOMS ?=
# More workers than processors are quicker, and make the tests between processes miss their times.
WORKERS ?= auto
PYTEST = $(BIN)/python -m pytest -rsxXR --tb=short
# A test that hangs ends its worker: an error raised in the test might wait for the same process again.
BOUND = --timeout 300 --timeout-method thread
SOURCES = setup.py setup.cfg pyproject.toml tools/install.py

# Where an environment forbids it, each of the hundreds of processes that the tests start would
# compile the package's five hundred files again.
export PYTHONDONTWRITEBYTECODE =

PYTHON_VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
OLD_ENOUGH := $(shell $(PYTHON) -c 'import sys; print(int(sys.version_info >= (3, 10)))')
# NumPy 1.26 has wheels up to Python 3.12.
HAS_NUMPY1 := $(shell $(PYTHON) -c 'import sys; print(int(sys.version_info < (3, 13)))')

ifneq ($(OLD_ENOUGH),1)
$(error $(PYTHON) is Python $(PYTHON_VERSION); 3.10 or newer is needed: make PYTHON=python3.12)
endif

.PHONY: help install installed demo test lint types imports unit validate fuzz docs docs-full figures benchmark house mutants numpy1 colcon format clean

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{printf "%-18s%s\n", $$1, $$2}'

install: installed ## create .venv with everything that exists for this platform, and compile the kernels
	$(BIN)/python tools/compile_kernels.py --share

installed: $(VENV)/.installed # the same, and compile nothing

demo: $(VENV)/.demo ## a simulated arm over ROS 2: a table and a report; ROBOT=elbow or a URDF's path
	@$(BIN)/geared-dynamics demo $(ROBOT) --out $(OUT)

test: lint types imports unit ## everything a change must pass
	@cat $(VENV)/left-out.txt

lint: $(VENV)/.installed ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed ## mypy, strict
	$(BIN)/mypy

imports: $(VENV)/.installed ## the borders between the rooms
	$(BIN)/lint-imports

unit: $(VENV)/.installed ## the tests; TESTS="test/unit -k mesh" selects
	$(BIN)/python tools/compile_kernels.py
	$(PYTEST) $(BOUND) -n $(WORKERS) --dist worksteal $(TESTS) || { test $$? = 1 && \
	    echo "## what failed, alone" && $(PYTEST) $(BOUND) --last-failed --lfnf none --again -x $(TESTS); }

validate: $(VENV)/.installed ## long proofs: the tests with sixty times as many random examples, and the marked ones
	HYPOTHESIS_PROFILE=validate $(PYTEST) -n auto -m "validate or not validate" $(TESTS)

fuzz: $(VENV)/.installed ## hostile input for everything that takes some; ONLY=recordings MINUTES=10 SEED=5
	PYTHONPATH=test $(BIN)/python -m fuzz --minutes $(or $(MINUTES),5) $(if $(SEED),--seed $(SEED)) $(ONLY)

docs: $(VENV)/.installed ## the site, into docs/_build/html; warnings are errors, no network is needed
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

docs-full: $(VENV)/.docs ## the site with what the examples print and draw, and all blocks of the pages run
	GALLERY=1 $(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	$(PYTEST) -m "validate or not validate" test/repository/test_pages.py

figures: $(VENV)/.installed ## accuracy on published robots and references: measured, asked
	@out=$$($(BIN)/python -m pytest test/golden -q -s -p no:xdist) || { echo "$$out"; exit 1; }; \
	    echo "$$out" | grep -ao 'figure: .*' | cut -c9- | sort -u

benchmark: $(VENV)/.installed ## timings, printed
	set -e; for script in $$(grep -l __main__ benchmarks/*.py); do \
	    echo "== $$script"; $(BIN)/python $$script; done

house: $(VENV)/.installed ## sizes, doors and walks of the package; NAMES=1 lists what is counted
	$(BIN)/python tools/house $(if $(NAMES),--names)

mutants: $(VENV)/.installed ## change sources at random, see whether tests notice; SEED= COUNT= ROOMS="control safety"
	$(BIN)/python tools/mutants --seed "$(SEED)" --count $(COUNT) --rooms $(ROOMS)

format: $(VENV)/.installed ## let ruff fix what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# -- a second environment with NumPy 1.26 -----------------------------------------------------

OLD = .venv-numpy1
# The equations and what they are read from; what is built on them takes the same arrays, and as long again.
EQUATIONS = $(addprefix test/,smoke $(addprefix unit/,description model trajectory dynamics)) \
    --ignore-glob='*contact*' --ignore-glob='*elastic*' --ignore-glob='*flat*'
.PHONY: colcon-installed # what takes long before its tests

ifeq ($(HAS_NUMPY1),1)
numpy1: $(OLD)/.installed ## the tests of the mathematics with NumPy 1.26
	$(OLD)/bin/python tools/compile_kernels.py
	HYPOTHESIS_PROFILE=brief $(OLD)/bin/python -m pytest -rsxXR --tb=short -n auto $(or $(TESTS),$(EQUATIONS))
else
numpy1:
	@echo "left out: NumPy 1.26 has no wheels for Python $(PYTHON_VERSION)"
endif

# -- colcon, all of it in .colcon and an environment of its own -------------------------------

COLCON = $(CURDIR)/.venv-colcon/bin/colcon --log-base .colcon/log
WHERE = --base-paths . --build-base .colcon/build --install-base .colcon/install
LINKED = --base-paths . --build-base .colcon/build-linked --install-base .colcon/install-linked

colcon-installed: .venv-colcon/.installed

colcon: .venv-colcon/.installed ## build with colcon, run the smoke tests on the result
	rm -rf .colcon
	$(COLCON) build $(LINKED) --symlink-install
	$(COLCON) build $(WHERE)
	. .colcon/install/local_setup.sh && $(COLCON) test $(WHERE) \
	    --return-code-on-test-failure --event-handlers console_direct+
	$(COLCON) test-result --test-result-base .colcon/build --verbose

# -- environments ----------------------------------------------------------------------------

# The first stamp changes with the interpreter, the second with the requirements.
%/.python-$(PYTHON_VERSION):
	$(PYTHON) -m venv --clear $*
	touch $@

$(VENV)/.installed: $(VENV)/.python-$(PYTHON_VERSION) $(SOURCES)
	$(BIN)/python tools/install.py tools docs --optional robots analysis sim ros demo
	touch $@

# What the examples need besides.
$(VENV)/.docs: $(VENV)/.installed
	$(BIN)/python tools/install.py casadi --optional crocoddyl view
	touch $@

# What the demo needs and no more, or what is installed already.
$(VENV)/.demo: $(VENV)/.python-$(PYTHON_VERSION) $(SOURCES)
	test $(VENV)/.installed -nt setup.py || $(BIN)/python tools/install.py ros demo --optional sim
	touch $@

$(OLD)/.installed: $(OLD)/.python-$(PYTHON_VERSION) $(SOURCES)
	$(OLD)/bin/python tools/install.py testing --with 'numpy==1.26.*'
	touch $@

# setuptools 80.9 dropped what colcon's --symlink-install calls.
.venv-colcon/.installed: .venv-colcon/.python-$(PYTHON_VERSION) $(SOURCES)
	.venv-colcon/bin/python tools/install.py --with colcon-common-extensions --with 'setuptools<80.9'
	.venv-colcon/bin/python -m pip uninstall --quiet --yes geared_dynamics
	touch $@

clean: ## remove environments, builds and caches
	rm -rf .venv .venv-numpy1 .venv-colcon .colcon build dist *.egg-info docs/_build docs/_generated
	rm -rf .numba_cache .mutants .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
