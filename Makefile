# One Makefile. `make setup` needs Python 3.11 or newer, git and make; everything else comes from the lock files.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNS ?= 100000
SEED ?= 0

# The pure rooms are tested to every branch.
PURE := tests/unit/core tests/unit/patch tests/unit/shellcheck tests/golden tests/property
COVERAGE := --cov=flyball.core --cov=flyball.patch --cov=flyball.shellcheck --cov-branch --cov-report=term --cov-fail-under=100

.PHONY: setup lint check test test-slow demo docs bench simulate intent-report lock clean

setup: $(VENV)/.installed

$(VENV)/.installed: requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	$(BIN)/python -m compileall -q src
	@touch $@
	@echo "flyball is ready: $(BIN)/flyball --help"

$(VENV)/.bench-installed: requirements-bench.lock $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-bench.lock
	@touch $@

check: setup lint
	$(BIN)/pytest -n 2 --dist worksteal -m "not slow and not exhaustive"

# The pure rooms compute; the others wait for processes half of the time.
test: setup lint
	$(BIN)/pytest -n 2 --dist worksteal -m "not exhaustive" $(COVERAGE) $(PURE)
	$(BIN)/pytest -n 4 --dist worksteal -m "not exhaustive" $(PURE:%=--ignore=%)

test-slow: setup
	$(BIN)/pytest -n 4 --dist worksteal -m exhaustive

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright

simulate: setup
	$(BIN)/python -m tests.simulation.simulate --runs $(RUNS) --seed $(SEED)

intent-report: setup
	$(BIN)/python -m bench.intent_report

demo: setup
	$(BIN)/flyball demo

bench: $(VENV)/.bench-installed
	$(BIN)/python -m bench

docs: setup
	$(BIN)/python -m docs.generate

lock:
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url --extra dev -o requirements.lock pyproject.toml
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url --extra bench -c requirements.lock -o requirements-bench.lock pyproject.toml

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis node_modules
