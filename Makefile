# `make run` shows the thing, `make test` proves it. Only python3 (3.11 or newer) is needed beforehand.

PYTHON ?= python3
BIN := .venv/bin
EXAMPLE := examples/inventory.py:33:9

.PHONY: run test check wheel kernels clean bench-quality fit-confidence

run: .venv/.stamp-run
	$(BIN)/mercury-lsp pull
	$(BIN)/mercury-lsp complete $(EXAMPLE)

test: .venv/.stamp-dev
	$(BIN)/mercury-lsp pull
	$(BIN)/python -m pytest

check: .venv/.stamp-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

wheel: .venv/.stamp-dev
	rm -rf dist
	$(BIN)/python -m build --wheel --outdir dist .

# The GPU kernels compiled for chips that need not be there, and what each costs on them. Some ten minutes; `make test` has a few of them.
kernels: .venv/.stamp-dev
	$(BIN)/python -m kernels.ahead $(if $(CHIPS),--chips $(CHIPS)) $(if $(ONLY),--only "$(ONLY)")

# make bench-quality DATA=held-out-folder [ADAPTER="one.safetensors other.safetensors"] [HOLES=25] [STRETCHES=4] [QUICK=1] [MARKDOWN=1]
# make bench-quality HUMAN_EVAL=tasks.jsonl.gz [TASKS=100]
bench-quality: .venv/.stamp-dev
	$(BIN)/mercury-lsp pull
	$(BIN)/python -m benchmarks.bench_quality $(if $(DATA),--data $(DATA)) $(if $(HUMAN_EVAL),--human-eval $(HUMAN_EVAL)) \
		$(ADAPTER:%=--adapter %) $(if $(HOLES),--holes $(HOLES)) $(if $(STRETCHES),--stretches $(STRETCHES)) \
		$(if $(TASKS),--tasks $(TASKS)) $(if $(QUICK),--quick) $(if $(MARKDOWN),--markdown)

# make fit-confidence DATA=held-out-folder [ADAPTER=one.safetensors]: how sure an adapter's suggestions are, anew. Five minutes.
fit-confidence: .venv/.stamp-dev
	$(BIN)/mercury-lsp pull
	$(BIN)/python -m benchmarks.fit_confidence --data $(DATA) $(if $(ADAPTER),--adapter $(ADAPTER))

clean:
	rm -rf .venv dist build .pytest_cache .ruff_cache .mypy_cache

# A stamp is newer than pyproject.toml once what that asks for is installed. pip goes first: the one that venv brings may be too old for `pull`.
.venv/.stamp-run: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing mercury-lsp and what it needs into .venv. pip says nothing meanwhile; torch takes a minute or more and 1 GB."
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=24.1'
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

.venv/.stamp-dev: .venv/.stamp-run
	@echo "Installing what tests and checks need into .venv. pip says nothing meanwhile."
	$(BIN)/python -m pip install --quiet --editable '.[test,reference,dev]'
	touch $@
