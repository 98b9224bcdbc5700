# `make demo` and `make test` need Python 3.11+ and make; everything else they fetch themselves, into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
READY_TO_TEST := $(VENV)/.ready-to-test
MKDOCS = NO_MKDOCS_2_WARNING=1 $(BIN)/python -W error -m mkdocs build --strict --quiet
# Tests start hundreds of processes, which would each compile merit anew.
unexport PYTHONDONTWRITEBYTECODE
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
# uv installs in seconds what takes pip a minute. Where it cannot (a mirror that only pip knows, no uv for the system), pip does.
UV := $(BIN)/uv pip install --quiet --python $(BIN)/python -c constraints.txt
install = { $(PIP) uv && $(UV) $(1); } 2>/dev/null || $(PIP) $(1)

# Ray starts processes of its own and needs the machine. DuckDB warns of leaks where a test's process is one of several, has
# Ray in it, or both of the tests of dialects: each of these runs in a process of its own.
APART := tests/stream/test_cluster.py tests/failure/test_dialects.py tests/sql/test_canonical_dialects.py
ALONE := tests/sql/guard tests/cli/test_doctor.py tests/live/test_engines.py tests/live/test_private.py tests/live/test_staleness.py tests/sql/test_connect.py tests/sql/test_contract.py \
	tests/sql/test_values.py tests/sql/test_reflection.py tests/sql/test_own_functions.py tests/grounding/test_engines.py \
	tests/grounding/test_functions.py tests/failure/test_missing.py tests/cli/test_schema.py
# Browsers and servers of their own. All groups run at a time: most of these processes wait for something, and no core should.
PAGES := tests/web/page tests/bench
# Of the rest, one more process than there are cores: many tests wait for another process, a time limit or a browser.
WORKERS = $(shell $(PYTHON) -c "import os; print((os.cpu_count() or 1) + 1)")
QUICK := tests/agent tests/data tests/failure tests/prompts tests/types tests/runs tests/oracle/test_rewrite.py \
	tests/oracle/test_compare.py tests/sql/test_canonical.py tests/test_architecture.py tests/test_library.py \
	--ignore tests/agent/test_other_packages.py --ignore tests/failure/test_dialects.py --ignore tests/failure/test_missing.py

.PHONY: demo test test-apart test-alone test-pages test-rest quick check types format docs bench clean

# MODEL=URI asks a live model instead of the recorded answers; the others are options of `merit demo` too.
# METHOD and SEED say the same as METHODS and SEEDS, on the command line alone: others may have such names in their environment.
given = $(if $(filter command line,$(origin $(1))),$($(1)))
CHOSEN_METHODS = $(or $(METHODS),$(call given,METHOD))
CHOSEN_SEEDS = $(or $(SEEDS),$(call given,SEED))
# What can be set for `make demo`; another spelling (limit=5) is refused, or it would be ignored in silence.
SETTINGS := MODEL ENCODER METHODS METHOD SEEDS SEED LIMIT PYTHON VENV
UNKNOWN = $(strip $(foreach name,$(filter-out $(SETTINGS),$(.VARIABLES)),$(if $(call given,$(name)),$(name))))
ifneq ($(filter demo,$(or $(MAKECMDGOALS),demo)),)
$(if $(UNKNOWN),$(error make demo does not know $(UNKNOWN); set $(wordlist 1,7,$(SETTINGS))))
endif
DEMO = $(strip $(if $(MODEL),--model '$(MODEL)') $(if $(ENCODER),--encoder '$(ENCODER)') \
	$(if $(CHOSEN_METHODS),--methods '$(CHOSEN_METHODS)') $(if $(CHOSEN_SEEDS),--seeds '$(CHOSEN_SEEDS)') \
	$(if $(LIMIT),--limit '$(LIMIT)'))

demo: $(READY)
	$(BIN)/merit demo $(DEMO)

test: check
	$(MAKE) --no-print-directory -j 4 test-apart test-alone test-pages test-rest

test-apart: $(READY_TO_TEST)
	set -e; for file in $(APART); do $(BIN)/pytest $$file; done

test-alone: $(READY_TO_TEST)
	$(BIN)/pytest $(ALONE)

test-pages: $(READY_TO_TEST)
	$(BIN)/pytest $(PAGES)

test-rest: $(READY_TO_TEST)
	$(BIN)/pytest -n $(WORKERS) --maxprocesses 4 --dist worksteal $(addprefix --ignore ,$(APART) $(ALONE) $(PAGES))

# Lint, types and quick tests: half a minute on two cores, a minute where mypy has no cache yet.
quick: $(READY_TO_TEST)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n auto --maxprocesses 4 $(QUICK)

# Types and documentation are checked side by side: each takes one core.
check: $(READY_TO_TEST)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(MAKE) --no-print-directory -j 2 types docs

types: $(READY_TO_TEST)
	$(BIN)/mypy

# The documentation as a site, in site/: open site/index.html. Warnings are errors.
docs: $(READY_TO_TEST)
	$(MKDOCS)

format: $(READY_TO_TEST)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# OFFICIAL=FOLDER is a checkout of taoyds/test-suite-sql-eval, the judge's rival; a benchmark without its data or rival says so.
bench: $(READY)
	$(call install,-e '.[bench]')
	$(BIN)/python bench/judge.py $(if $(OFFICIAL),--official '$(OFFICIAL)')
	$(BIN)/python bench/recall.py
	$(BIN)/python bench/stream.py
	$(BIN)/python bench/report.py
	$(BIN)/python bench/page.py
	$(BIN)/python bench/ask.py
	$(BIN)/python bench/serve.py --minutes 1

clean:
	rm -rf $(VENV) site .hypothesis .mypy_cache .pytest_cache .ruff_cache

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "merit needs Python 3.11 or newer; set PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(call install,-e .)
	@touch $@

$(READY_TO_TEST): $(READY)
	$(call install,-e '.[dev]')
	@touch $@
