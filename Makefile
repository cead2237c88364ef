# make demo   fits real data, prints the equations and draws demo.png, on a machine with Python 3.11 or newer
# make test   lints, checks types and runs the tests
#
# Both make the environment they need in $(VENV), and install again only when the requirements change.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --quiet --disable-pip-version-check

.PHONY: demo test clean
.DEFAULT_GOAL := demo

demo: $(VENV)/.demo
	$(BIN)/odefinder demo --out demo.png

test: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 --dist loadfile

clean:
	rm -rf $(VENV) build dist demo.png

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	@echo "Installing odefinder into $(VENV)"
	$(PIP) install -e .
	@touch $@

$(VENV)/.test: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing odefinder and the tools for its tests into $(VENV)"
	$(PIP) install -c constraints.txt -e '.[dev]'
	@touch $@ $(VENV)/.demo
