# Two commands: "make demo" runs the main job on a real survey, "make test" proves that the project works.
# The only prerequisites are make and Python 3.11 or later with its venv module (on Debian:
# apt-get install make python3-venv). Everything else is installed into .venv, from pyproject.toml.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
WORKERS ?= 2

# one BLAS thread a process: the tests run in parallel, and results must not depend on the machine's cores
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1
export MKL_NUM_THREADS := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYTHONUTF8 := 1

.PHONY: demo test lint docs bench clean help
.DEFAULT_GOAL := help

help:
	@echo "make demo   a real survey: synthetic copies, privacy statement and codebook in out/"
	@echo "make test   every linter, type check, import contract, test, docstring example and vignette"
	@echo "make docs   the API reference in docs/api/"
	@echo "make bench  the long studies that need no file of yours, stored with dates in benchmarks/results/ (a night)"
	@echo "make clean  remove what the others made"

$(VENV)/made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "pysynthdp needs Python 3.11 or later; name one: make PYTHON=python3.11 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/installed: $(VENV)/made pyproject.toml
	$(RUN) -m pip install --quiet --editable .
	@touch $@

$(VENV)/installed-for-tests: $(VENV)/made pyproject.toml
	$(RUN) -m pip install --quiet --editable '.[test]'
	@touch $(VENV)/installed $@

demo: $(VENV)/installed
	$(RUN) examples/first_release.py out

lint: $(VENV)/installed-for-tests
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy
	$(VENV)/bin/lint-imports --no-logo

test: lint
	$(RUN) -m pytest -q -n $(WORKERS) --dist worksteal

docs: $(VENV)/installed-for-tests
	$(RUN) docs/build.py docs/api

STORED := benchmarks/results

bench: $(VENV)/installed-for-tests
	$(RUN) -m benchmarks.coverage.intervals 2000 $(STORED)/coverage.csv
	for group in means joint tables defaults; do \
	  $(RUN) -m benchmarks.coverage.inference $$group 2000 $(STORED)/inference.csv || exit 1; done
	$(RUN) -m benchmarks.coverage.nested --runs 2000
	$(RUN) -m benchmarks.attacks.rare_levels
	$(RUN) -m benchmarks.attacks.largest_value --tables 100 --write
	$(RUN) -m benchmarks.defaults.margins --tables 1000 --write
	$(RUN) -m benchmarks.defaults.flags_on_tables
	$(RUN) -m benchmarks.attacks.sampling_audit $(STORED)/sampling_audit.csv

clean:
	rm -rf $(VENV) docs/api build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
