# Two commands: "make demo" runs the main job on a real survey, "make test" proves that the project works.
# The only prerequisites are make and Python 3.11 or later with its venv module (on Debian:
# apt-get install make python3-venv). Everything else is installed into .venv, from pyproject.toml.

PYTHON ?= python3
VENV := .venv
OLDEST := .venv-oldest
RUN := $(VENV)/bin/python
WORKERS ?= 2

# one BLAS thread a process: the tests run in parallel, and results must not depend on the machine's cores
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1
export MKL_NUM_THREADS := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYTHONUTF8 := 1

.PHONY: demo test test-oldest lint docs bench clean help
.DEFAULT_GOAL := help

help:
	@echo "make demo         a real survey: synthetic copies, privacy statement and codebook in out/"
	@echo "make test         every linter, type check, import contract, test, docstring example and vignette"
	@echo "make test-oldest  what the oldest allowed packages must pass too: unit tests, shell, contracts; without R"
	@echo "make lint         ruff, mypy and the import contracts alone"
	@echo "make docs         the site in build/docs/html: guides, vignettes, reference; no network needed"
	@echo "make bench        the long studies that need no file of yours, stored with dates in benchmarks/results/ (a night)"
	@echo "make clean        remove what the others made"

define new_enough
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
  echo "pysynthdp needs Python 3.11 or later; name one: make PYTHON=python3.11 ..." >&2; exit 1; }
endef

$(VENV)/made:
	$(new_enough)
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/installed: $(VENV)/made pyproject.toml
	$(RUN) -m pip install --quiet --editable .
	@touch $@

$(VENV)/installed-for-tests: $(VENV)/made pyproject.toml
	$(RUN) -m pip install --quiet --editable '.[test,docs]'
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

$(OLDEST)/installed: pyproject.toml tests/oldest.py
	$(new_enough)
	$(PYTHON) -m venv --clear $(OLDEST)
	$(PYTHON) tests/oldest.py > $(OLDEST)/requirements.txt
	$(OLDEST)/bin/python -m pip install --quiet --requirement $(OLDEST)/requirements.txt --editable .
	@touch $@

# left out: contracts about papers and packages, which no dependency changes, and the three longest
LEFT_OUT := architecture benchmarks contributing docs examples imports outside_protection readme vignettes wheel \
  neighbours_from_r random_tables synthpop_faults
# what pyarrow before 26 asks of pandas 3.1, and no user sees
THEIRS := ignore:Series.values returning an ndarray that drops timezone:DeprecationWarning

test-oldest: $(OLDEST)/installed
	$(OLDEST)/bin/python -m pytest -q -n $(WORKERS) --dist worksteal -W "$(THEIRS)" \
	  $(LEFT_OUT:%=--ignore=tests/contracts/test_%.py) tests/unit tests/cli tests/contracts

docs: $(VENV)/installed-for-tests
	$(RUN) docs/build.py build/docs

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
	$(RUN) -m benchmarks.scale.beside_memory 1e7 15 --write
	$(RUN) -m benchmarks.scale.register 1e6 --write
	$(RUN) -m benchmarks.scale.register 1e7 --write
	$(RUN) -m benchmarks.scale.curve 1e5,1e6,3e6,1e7 20 --write
	$(RUN) -m benchmarks.speed.pooled --write

clean:
	rm -rf $(VENV) $(OLDEST) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
