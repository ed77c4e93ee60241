# Everything here wraps a documented `python -m …` command (CONTRIBUTING.md), for those without make.
PYTHON ?= python3
VENV ?= .venv
RUN = $(VENV)/bin/python -m
PIP = $(RUN) pip install --quiet --constraint constraints.txt

.PHONY: demo docs test test-all lint trust mutants release-check versions clean

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

# What a release must pass: built, installed where the repository is not, tried there.
release-check: $(VENV)/.release
	$(VENV)/bin/python tools/release_check.py

# The tests with the oldest supported, the pinned and the newest packages. TORCH_INDEX: an index of CPU builds of torch.
versions: $(VENV)/.dev
	$(VENV)/bin/python tools/version_matrix.py $(if $(TORCH_INDEX),--torch-index $(TORCH_INDEX))

# The site, in build/site; no network is needed. Any warning fails: not with --quiet, which drops warnings before they are
# counted. The variable silences the theme's notice about its successor.
docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(RUN) mkdocs build --strict
	@echo "build/site/index.html"

# Kills, hostile inputs, fuzzed readers and an audit; what is finished is kept in build/trust, a second start continues.
# Full sizes and their figures: docs/trust.md.
trust: $(VENV)/.trust
	$(VENV)/bin/python tools/trust/kills.py --out build/trust
	$(VENV)/bin/python tools/trust/cases.py --out build/trust
	$(VENV)/bin/python tools/trust/fuzz.py --out build/trust
	$(VENV)/bin/python tools/trust/audit.py --out build/trust

# An hour or so of two cores: small changes of the method's own code, and which of them the tests notice.
mutants: $(VENV)/.trust
	$(VENV)/bin/python tools/trust/mutants.py --out build/trust

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

$(VENV)/.docs: $(VENV)/.core
	$(PIP) --editable ".[docs]"
	touch $@

$(VENV)/.trust: $(VENV)/.dev
	$(PIP) --editable ".[trust]"
	touch $@

$(VENV)/.release: $(VENV)/.dev
	$(PIP) --editable ".[release]"
	touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache
