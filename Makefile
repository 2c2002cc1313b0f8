# What a person types: make demo, make test. Everything is installed into .venv, pinned by hash.
PYTHON ?= python3
BIN := .venv/bin
# More than half of what tests take is waiting, so there are five workers for every two processors.
WORKERS ?= $(shell echo $$(($$(nproc) * 5 / 2)))
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test test-quick check web docs lock bench bench-docs bench-smoke clean

demo: .venv/run
	@$(BIN)/milepost demo

# The whole: lint, types, and all tests; with TIMES=1 it also prints how long each took.
test: check
	@$(BIN)/python -P src/milepost/web/libraries.py && $(BIN)/python -m tests.web.axe || true
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(if $(TIMES),--durations=0 --durations-min=0.01)

# While you work: unit tests without the longest, and the quickest others; within 90 seconds on two processors (tests/quick.py).
test-quick: .venv/dev
	$(BIN)/python -m pytest -q -n $(shell nproc) --dist worksteal @tests/quick.txt

check: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

# The libraries of the page, by npm. Where there is no npm, tests in a browser say so and are skipped.
web:
	@$(PYTHON) -P src/milepost/web/libraries.py

docs: .venv/dev
	$(BIN)/python docs/reference.py

# Every benchmark, and one table at the end; bench-docs also writes it into docs/performance.md. bench-smoke runs each as
# small as can be, to see that it works.
bench: .venv/dev
	$(BIN)/python benchmarks/all.py

bench-docs: .venv/dev
	$(BIN)/python benchmarks/all.py --docs

bench-smoke: .venv/dev
	$(BIN)/python benchmarks/all.py --smoke

# A marker is written only when all of an installation succeeded; a broken one is done again.
.venv/run: requirements/run.lock pyproject.toml
	@$(MAKE) --no-print-directory install LOCK=requirements/run.lock
	@touch $@

.venv/dev: requirements/dev.lock pyproject.toml
	@$(MAKE) --no-print-directory install LOCK=requirements/dev.lock
	@touch .venv/run $@

.PHONY: install
install:
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv || { rm -rf .venv; \
	  echo "error: $(PYTHON) cannot make virtual environments; on Debian: apt-get install python3-venv" >&2; exit 1; }
	@$(PIP) install --require-hashes --requirement $(LOCK)
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q src

lock:
	uv pip compile pyproject.toml --group build --extra mcp --extra models --extra ship --extra web --universal --no-strip-extras --generate-hashes --no-header --no-annotate --quiet --output-file requirements/run.lock
	uv pip compile pyproject.toml --group build --group dev --universal --no-strip-extras --generate-hashes --no-header --no-annotate --quiet --constraints requirements/run.lock --output-file requirements/dev.lock

clean:
	rm -rf .venv dist build
