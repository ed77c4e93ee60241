# Everything here wraps a documented `python -m …` command (CONTRIBUTING.md), for those without make.
PYTHON ?= python3
VENV ?= .venv
RUN = $(VENV)/bin/python -m
PIP = $(RUN) pip install --quiet --constraint constraints.txt

.PHONY: demo test test-all lint trust clean

demo: $(VENV)/.core
	$(RUN) rcexplainer demo

# The tests of one file stay in one process: they share what takes long to make.
test: lint
	$(RUN) pytest -m "not slow" -n 2 --dist loadfile
	mkdir -p build
	$(RUN) rcexplainer reproduce all --profile quick --out build/quick --jobs 2 --quiet > build/quick.txt
	$(RUN) rcexplainer report build/quick

test-all: lint
	$(RUN) pytest -n 2 --dist loadfile

# Kills, hostile inputs, fuzzed readers and an audit; what is finished is kept in build/trust, a second start continues.
# Full sizes and their figures: docs/trust.md.
trust: $(VENV)/.dev
	$(VENV)/bin/python tools/trust/kills.py --out build/trust
	$(VENV)/bin/python tools/trust/cases.py --out build/trust
	$(VENV)/bin/python tools/trust/fuzz.py --out build/trust
	$(VENV)/bin/python tools/trust/audit.py --out build/trust

lint: $(VENV)/.dev
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) mypy

$(VENV)/.core: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable .
	touch $@

$(VENV)/.dev: $(VENV)/.core
	$(PIP) --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache
