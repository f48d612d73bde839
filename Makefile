# `make run` and `make test` are all a newcomer needs; both set up what they use.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
DATA   ?= riverlog-data
LISTEN ?= 127.0.0.1:9092
JOBS   ?= 2
# Spark's tests need Java, and half a gigabyte of Spark: without Java they skip, and it stays away.
SPARK  := $(shell java -version >/dev/null 2>&1 && echo $(VENV)/.spark)

.DEFAULT_GOAL := help
.PHONY: help run test check format lint types layers bench pipeline java lock clean

help: ## Show this list
	@awk -F':.*## ' '/^[a-z]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(VENV)/.run ## Set up and run the broker on LISTEN, data in DATA
	@$(BIN)/riverlog serve --data $(DATA) --listen $(LISTEN)

test: check $(SPARK) ## Set up, check, and run every test (missing outside tools skip by name)
	@$(BIN)/pytest -n $(JOBS) $(TESTS)

check: format lint types layers ## Format, lint, types, layers (tidy rules run as a unit test)

format: $(VENV)/.dev
	@$(BIN)/ruff format --check -q . || { echo "run: $(BIN)/ruff format ."; exit 1; }

lint: $(VENV)/.dev
	@$(BIN)/ruff check -q .

types: $(VENV)/.dev
	@$(BIN)/mypy

layers: $(VENV)/.dev
	@$(BIN)/lint-imports --no-cache >$(VENV)/layers.log || { cat $(VENV)/layers.log; exit 1; }

bench: $(VENV)/.bench ## Measure Riverlog beside its peers, into docs/benchmarks.md (BENCH=--quick tries it)
	@$(BIN)/python -m benchmarks.peers $(BENCH)

pipeline: java $(VENV)/.spark ## Show it at work: a million orders through Spark, kill -9 midway, every total checked (ROWS= KEEP=)
	@$(BIN)/python -m examples.pipeline $(if $(ROWS),--rows $(ROWS)) $(if $(KEEP),--keep $(KEEP)) $(ARGS)

java:
	@java -version >/dev/null 2>&1 || "$${JAVA_HOME:-.}/bin/java" -version >/dev/null 2>&1 || { echo "make pipeline needs Java 17 or newer:" \
	  "install one, for example with apt install openjdk-17-jre-headless, or set JAVA_HOME"; exit 2; }

lock: ## Rewrite the pinned requirements from requirements/*.in
	@$(PYTHON) -m venv $(VENV)-lock && $(VENV)-lock/bin/pip install -q uv
	@for name in run dev spark spark42 bench; do $(VENV)-lock/bin/uv pip compile -q --upgrade --universal --python-version 3.11 \
	  --generate-hashes --no-header --no-emit-index-url --no-annotate \
	  requirements/$$name.in -o requirements/$$name.txt; done
	@rm -rf $(VENV)-lock

clean: ## Remove what the other targets made (never your data)
	@rm -rf $(VENV) .tools .bench .fuzz build .mypy_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Riverlog needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.run: requirements/run.txt pyproject.toml setup.py $(wildcard src/riverlog/kernel/*.[ch]) | $(VENV)/bin/python
	@$(BIN)/pip install -q --disable-pip-version-check --require-hashes -r requirements/run.txt
	@$(BIN)/pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.run
	@$(BIN)/pip install -q --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

$(VENV)/.spark: requirements/spark.txt $(VENV)/.dev
	@$(BIN)/pip install -q --disable-pip-version-check --require-hashes -r requirements/spark.txt
	@touch $@

$(VENV)/.bench: requirements/bench.txt $(VENV)/.dev
	@$(BIN)/pip install -q --disable-pip-version-check --require-hashes -r requirements/bench.txt
	@touch $@
