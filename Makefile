# One Makefile. `make setup` needs Python 3.11 or newer, git and make; everything else comes from the lock file.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNS ?= 100000
SEED ?= 0

# The pure rooms are tested to every branch.
ROOMS := terms intent guards plan run record agents patch shell
MODULES := verdict.case verdict.manifest verdict.part verdict.settled audit.audited_call audit.finding audit.rules audit.trail
PURE := $(ROOMS:%=tests/unit/%) tests/unit/audit/test_rules.py tests/unit/audit/test_trail.py tests/unit/audit/test_audited_call.py \
	tests/unit/verdict/test_case.py tests/unit/verdict/test_manifest.py tests/golden tests/property/test_verdict.py tests/contract/test_endings.py
COVERAGE := $(patsubst %,--cov=flyball.%,$(ROOMS) $(MODULES)) --cov-branch --cov-report=term --cov-fail-under=100
# What tests start with make is none of this one's jobs.
PYTEST := env -u MAKEFLAGS -u MFLAGS $(BIN)/pytest --dist worksteal

# Without a cache every worker would rewrite all the tests that it collects.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup browser toolchains style types lint check quick test pure rest test-slow exhaustive properties demo docs site pictures bench simulate intent-report dist lock clean

setup: $(VENV)/.installed

# One lock file with three sections: pip itself, what development needs, and what only the bench needs.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
SECTION = sed -n '/^\# '$(1)'$$/,/^\# /p' requirements.lock

# A Python brings the pip of its day, and an old one takes nearly twice as long over the lock.
$(VENV)/.installed: requirements.lock pyproject.toml
	@echo "Installing the $$($(call SECTION,dev) | grep -c ==) locked packages into $(VENV), in a minute or two …"
	$(PYTHON) -m venv $(VENV)
	$(call SECTION,pip) | $(PIP) --require-hashes -r /dev/stdin
	$(call SECTION,dev) | $(PIP) --require-hashes -r /dev/stdin
	$(PIP) --no-deps --no-build-isolation -e .
	$(BIN)/python -m compileall -q src
	@touch $@
	@echo "flyball is ready: $(BIN)/flyball --help"

$(VENV)/.bench-installed: $(VENV)/.installed
	$(call SECTION,bench) | $(PIP) --require-hashes --no-deps -r /dev/stdin
	@touch $@

# Whoever reads a test first rewrites it: one process for all, and not each worker for itself. What
# cannot be read is told by those that run it.
$(VENV)/.read: $(VENV)/.installed
	@$(PYTEST) --collect-only -qq $(PURE:%=--ignore=%) > /dev/null || true
	@touch $@

# The types keep one core busy for a minute: tests run beside them.
check: setup style
	$(MAKE) --no-print-directory -j 2 types quick

test: setup browser style
	$(MAKE) --no-print-directory -j 2 pure $(VENV)/.read
	$(MAKE) --no-print-directory rest

lint: style types

style: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: setup
	$(BIN)/pyright

# Without the rooms whose tests start processes: those take as long as all the others together.
quick: setup
	$(PYTEST) -n 2 -m "not slow and not exhaustive" tests/unit tests/golden tests/contract \
		--ignore=tests/unit/workspace --ignore=tests/unit/tools --ignore=tests/unit/engine --ignore=tests/unit/web

pure: setup
	$(PYTEST) -n 2 -m "not exhaustive" $(COVERAGE) $(PURE)

# The tests of the board's page need Chromium; the system's packages have it.
browser:
	@for name in chromium chromium-browser google-chrome google-chrome-stable; do command -v $$name >/dev/null && exit 0; done; \
	echo "Installing Chromium for the tests of the page …"; \
	if [ "$$(id -u)" = 0 ]; then as=; else as="sudo -n"; fi; \
	{ $$as apt-get update -qq && $$as apt-get install -y -qq chromium; } >/dev/null 2>&1 || $$as dnf install -y -q chromium >/dev/null 2>&1 || \
	echo "!!! BROWSER TESTS WILL NOT RUN: Chromium is missing and could not be installed. Install it and run make test again."

# Programs that long tests run, each with the Debian packages that bring it. A toolchain that is there
# by other means (rustup, nvm) is kept; one that cannot be had costs its own tests and no others.
TOOLCHAINS := go:golang-go cargo:cargo ruby:ruby rake:ruby-minitest,ruby-test-unit,rake php:php-cli phpunit:phpunit \
	javac:default-jdk-headless cc:gcc,libc6-dev cmake:cmake bats:bats node:nodejs npm:npm zsh:zsh fish:fish groff:groff-base bwrap:bubblewrap

toolchains:
	@if [ "$$(id -u)" = 0 ]; then as=; else as="sudo -n"; fi; lists=old; missing=; \
	for each in $(TOOLCHAINS); do program=$${each%%:*}; command -v "$$program" >/dev/null && continue; \
		echo "Installing $$program for the long tests …"; \
		[ $$lists = new ] || { $$as apt-get update -qq >/dev/null 2>&1; lists=new; }; \
		$$as env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$(echo "$${each#*:}" | tr , ' ') >/dev/null 2>&1; \
		command -v "$$program" >/dev/null || missing="$$missing $$program"; done; \
	[ -z "$$missing" ] || echo "!!! LONG TESTS WILL BE SKIPPED: these programs are missing and could not be installed:$$missing. Install them and run make test-slow again."

# These wait for processes half of the time, so there are more of them than cores. What such a crowd
# slowed past a limit is tried once more, alone; what fails again is broken.
CROWD = $(PYTEST) -n 6 $(1) || $(PYTEST) -n 0 --last-failed --last-failed-no-failures none $(1)

rest: setup
	$(call CROWD,-m "not exhaustive" $(PURE:%=--ignore=%))

# The types take one core and little memory: they and the properties go on beside the long part.
test-slow: setup toolchains
	$(MAKE) --no-print-directory -j 2 exhaustive types properties

exhaustive: setup toolchains
	$(call CROWD,-m exhaustive)

# Tried by `make test` already; here on more examples.
properties: setup
	FLYBALL_EXAMPLES=thorough $(PYTEST) -n 2 -m "not exhaustive" tests/property

simulate: setup
	$(BIN)/python -m tests.simulation.simulate --runs $(RUNS) --seed $(SEED)

intent-report: setup
	$(BIN)/python -m bench.intent_report

demo: setup
	$(BIN)/flyball demo

bench: $(VENV)/.bench-installed
	$(BIN)/flyball bench --page

docs: setup
	$(BIN)/python -m docs.generate

# The same files as pages for a browser, with search; nothing is asked of any other server.
site: setup
	$(BIN)/python -m docs.site

pictures: setup browser
	$(BIN)/python -m docs.moving
	$(BIN)/python -m docs.pictures
	mkdir -p build/pictures
	FLYBALL_KEEP_PICTURES=build/pictures $(BIN)/pytest -q -n 2 -m exhaustive -k nothing_overflows tests/web/test_views.py
	@echo "Every view at three widths in both themes is in build/pictures."

# The wheel is tried in clean environments: alone, with each extra, with all.
dist: setup
	rm -rf dist
	$(BIN)/python -m hatchling build -d dist
	$(BIN)/python -m tests.wheel

# Each section starts from its present pins, so only what a new requirement needs moves.
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url --no-strip-extras
lock:
	for each in pip dev bench; do $(call SECTION,$$each) > $(VENV)/$$each.lock; done
	echo pip | $(LOCK) -o $(VENV)/pip.lock -
	$(LOCK) --extra dev -o $(VENV)/dev.lock pyproject.toml
	$(LOCK) --extra dev --extra bench -c $(VENV)/dev.lock -o $(VENV)/bench.lock pyproject.toml
	cd $(VENV) && awk 'FNR == 1 { print "# " substr(FILENAME, 1, length(FILENAME) - 5) } \
		/^[a-z]/ { kept = !seen[$$1]++ } kept && !/^#/' pip.lock dev.lock bench.lock > ../requirements.lock

clean:
	rm -rf $(VENV) build dist site .pytest_cache .ruff_cache .hypothesis node_modules
