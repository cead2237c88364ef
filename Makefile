# make demo   fits real data, prints the equations and draws demo.png, on a machine with Python 3.11 or newer
# make test   lints, checks types and runs the tests; prints the coverage
# make docs   builds the documentation in site/, running the tutorials
# make wheel  builds wheel and sdist in dist/, installs the wheel into a new environment and fits there
# make fuzz   feeds every door with some 16,000 hostile inputs, and kills and interrupts; a short part is in make test
# make audit  looks for known vulnerabilities of the versions that are installed; needs the network
# make perf   runs the tests that assert wall-clock times, which need a quiet machine
#
# Each makes the environment it needs in $(VENV), and installs again only when the requirements change.

VENV ?= .venv
ifeq ($(OS),Windows_NT)
PYTHON ?= python
BIN := $(VENV)/Scripts
EXE := .exe
else
PYTHON ?= python3
BIN := $(VENV)/bin
EXE :=
endif
PIP := $(BIN)/python -m pip --quiet --quiet --disable-pip-version-check

.PHONY: demo test lint types docs docs-serve wheel perf fuzz audit clean
.DEFAULT_GOAL := demo

demo: $(VENV)/.demo
	$(BIN)/odefinder demo --out demo.png

test: lint types
	$(BIN)/python -m pytest -n 2 --dist loadfile --cov --cov-report= --cov-fail-under 65

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.test
	$(BIN)/mypy

perf: $(VENV)/.test
	$(BIN)/python -m pytest -m perf

fuzz: $(VENV)/.test
	ODEFINDER_FUZZ=1000 ODEFINDER_HOSTILE=1000 ODEFINDER_FAULTS=20 $(BIN)/python -m pytest \
		tests/test_fuzz.py tests/test_fuzz_results.py tests/test_hostile_input.py tests/test_faults.py

audit: $(VENV)/.test
	$(PIP) install 'pip-audit>=2.7'
	$(BIN)/pip-audit --local --skip-editable

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "Open site/index.html"

docs-serve: $(VENV)/.docs
	$(BIN)/python -m mkdocs serve

wheel: | $(BIN)/python$(EXE)
	$(PIP) install 'build>=1.2'
	$(BIN)/python .ci/wheel.py

clean:
	rm -rf $(VENV) build dist site .cache .coverage demo.png

$(BIN)/python$(EXE):
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml | $(BIN)/python$(EXE)
	@echo "Installing odefinder into $(VENV)"
	$(PIP) install -e .
	@touch $@

$(VENV)/.docs: pyproject.toml | $(BIN)/python$(EXE)
	@echo "Installing odefinder and the tools for its documentation into $(VENV)"
	$(PIP) install -e '.[docs]'
	@touch $@ $(VENV)/.demo

$(VENV)/.test: pyproject.toml constraints.txt | $(BIN)/python$(EXE)
	@echo "Installing odefinder and the tools for its tests into $(VENV)"
	$(PIP) install -c constraints.txt -e '.[dev]'
	@touch $@ $(VENV)/.demo $(VENV)/.docs
