# Hearth needs python3 (3.11 or newer), pip and make. Everything else is installed into .venv.

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
PORT ?= 8000
SERVE ?= 1
# Several processes share the tests, because some wait for servers most of the time. Few tests run on
# PostgreSQL, in one process.
# `make test PYTEST_ARGS=-x` tests each database in one process, which stops at the first failure.
PROCESSES ?= 3
PYTEST_ARGS ?= --numprocesses=$(PROCESSES) --dist=worksteal
PYTEST = $(PY) -m pytest $(PYTEST_ARGS)
test-postgresql: PYTEST_ARGS =

# A value in the shell, for example of another project, would replace config.settings.
unexport DJANGO_SETTINGS_MODULE
# Containers often set this. Each process that the tests start would then compile all sources again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help install install-dev install-embeddings install-tools lock audit sbom demo serve worker test test-javascript \
	test-sqlite test-postgresql coverage bench verify faults soak check ruff format-check bandit javascript types imports \
	templates migrations deploy format interfaces messages clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

# --- Environment ----------------------------------------------------------------------------

# Create the virtual environment. It is created again if the folder was moved or the version of python3
# has changed.
define make_venv
	@command -v "$(PYTHON)" >/dev/null || { \
		echo "Hearth needs Python 3.11 or newer, and there is no $(PYTHON)." >&2; exit 1; }; \
	"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Hearth needs Python 3.11 or newer, and $(PYTHON) is" \
			"$$("$(PYTHON)" --version 2>&1). Use another one: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; \
		exit 1; }; \
	made_for="$$("$(PYTHON)" -c 'import sys; print(*sys.version_info[:2])') $(CURDIR)"; \
	if [ "$$made_for" != "$$(cat $(VENV)/made-for 2>/dev/null)" ]; then \
		if "$(PYTHON)" -c 'import ensurepip' 2>/dev/null; then \
			"$(PYTHON)" -m venv --clear $(VENV); \
		else  : "Debian without python3-venv: the pip of the system installs pip here"; \
			"$(PYTHON)" -m venv --clear --without-pip $(VENV) && \
			"$(PYTHON)" -m pip --quiet --python $(PY) install pip; \
		fi || { \
			echo "The virtual environment cannot be created. On Debian or Ubuntu, run:" \
				"sudo apt-get install python3-venv python3-pip" >&2; exit 1; }; \
		echo "$$made_for" > $(VENV)/made-for; \
	fi
endef

# Install the requirements file $(1) with the flags $(2), but only if it has changed. The hashes in it are checked. Python
# compiles a module when it is first imported, which takes less time than to compile all modules.
# uv takes a tenth of the time that pip takes, but does not read the settings of pip, for example the
# address of a mirror. If uv fails, pip installs the file, or says why it cannot.
PIP := $(PY) -m pip install -qq --disable-pip-version-check --no-compile --prefer-binary -r
UV := $(VENV)/bin/uv pip install --quiet --system-certs --require-hashes --python $(PY) -r
define install_requirements
	@wanted="$$(cksum < $(1))"; stamp="$(VENV)/installed-$(1)"; \
	if [ "$$wanted" != "$$(cat "$$stamp" 2>/dev/null)" ]; then \
		echo "Installing $(1) into $(VENV) ..."; \
		{ [ -x $(VENV)/bin/uv ] || $(PIP) requirements-installer.txt 2>/dev/null; } && \
		$(UV) $(1) $(2) 2>/dev/null || $(PIP) $(1) $(2) && \
		echo "$$wanted" > "$$stamp"; \
	fi
endef

install:  ## Install what Hearth needs to run into .venv
	$(make_venv)
	$(call install_requirements,requirements.txt)

install-dev: install
	$(call install_requirements,requirements-dev.txt)

install-embeddings: install  ## Install sentence embeddings (90 MB), for proxies and the selection of phrasings
	$(call install_requirements,requirements-embeddings.txt,--no-deps)

install-tools: install-dev
	$(call install_requirements,requirements-tools.txt)

# Locked versions stay unless a .in file requires others. UPGRADE=1 takes the newest versions that the
# .in files allow. Extras are locked too, because older versions of pip do not see that coverage==7.1
# also pins coverage[toml], and stop as soon as a newer coverage is released.
LOCKED := requirements-installer requirements requirements-dev requirements-tools
UV_LOCK = $(VENV)/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-strip-extras --custom-compile-command "make lock" $(if $(UPGRADE),--upgrade)

lock: install-tools  ## Write requirements*.txt, with hashes, from requirements*.in
	@for name in $(LOCKED); do $(UV_LOCK) --output-file $$name.txt $$name.in || exit 1; done
	@$(UV_LOCK) --no-deps --output-file requirements-embeddings.txt requirements-embeddings.in

# This is not part of `make check`, because it needs the advisory service of the package registry.
audit: install-tools  ## Look up known vulnerabilities of all packages (needs a network)
	@for name in $(LOCKED); do \
		$(PY) -m pip_audit --strict --disable-pip --progress-spinner off --requirement $$name.txt || exit 1; \
	done

# The packages of requirements.txt with their hashes, in the format CycloneDX.
SBOM ?= sbom.cdx.json
sbom: install-tools  ## Write the list of all packages that Hearth runs with (SBOM=file)
	@$(VENV)/bin/cyclonedx-py requirements --output-reproducible --of JSON -o $(SBOM) requirements.txt
	@echo "The packages are in $(SBOM)."

# --- Running --------------------------------------------------------------------------------

# With exec, Ctrl-C reaches only Python, which stops the processes that it has started.
demo: install  ## Build the demo benchmark and serve it on 127.0.0.1:8000 (SERVE=0 only builds it)
	@exec $(PY) manage.py demo --port $(PORT) $(if $(filter 0,$(SERVE)),--no-serve)

# Without nginx, each request that a client sends slowly or only half occupies a thread.
serve: export WEB_THREADS ?= 32
serve: install  ## Serve the site in HEARTH_HOME on 127.0.0.1:8000 (PORT=8001 for another port)
	@$(PY) manage.py migrate --verbosity 0
	@exec $(PY) -m gunicorn --config deploy/gunicorn.conf.py --bind 127.0.0.1:$(PORT) config.wsgi

worker: install  ## Run a Celery worker with periodic tasks, in addition to `make serve`
	@exec $(PY) -m celery -A config.celery worker --beat --loglevel INFO

# --- Tests ----------------------------------------------------------------------------------

# tests.services finds, starts or installs PostgreSQL, Redis and Chromium. tests.parts runs the three
# parts at the same time. Each part runs to its end, even if another one fails.
test: install-dev  ## Run the checks, and all tests on SQLite and on PostgreSQL
	@$(PY) -m tests.services run -- $(PY) -m tests.parts "$(MAKE)" \
		"Checks=check test-javascript" SQLite=test-sqlite PostgreSQL=test-postgresql

# Playwright's package contains Node, so it need not be installed separately.
NODE = $(firstword $(wildcard $(VENV)/lib/python*/site-packages/playwright/driver/node))

test-javascript: install-dev
	@echo "--- Tests of the JavaScript modules"
	@"$(NODE)" --test --test-reporter=dot "tests/js/*.test.mjs"

test-sqlite: install-dev
	@echo "--- Tests on SQLite"
	@env -u DATABASE_URL $(PYTEST) -m "not postgresql(only=True)"

# Tests with the mark `postgresql` run on PostgreSQL, too: tests of SQL, of locks, of triggers and of
# concurrency. PostgreSQL refuses more texts than SQLite, so walks with odd requests run only there.
# The drills and the tests of moving to PostgreSQL start their own databases.
test-postgresql: install-dev
	@echo "--- Tests on PostgreSQL"
	@$(PY) -m tests.services run -- $(PYTEST) -m postgresql \
		$$(grep --recursive --files-with-matches --include='test_*.py' 'mark\.postgresql' tests)

# This is not part of `make test`, because tracing each line makes the tests slower.
coverage: install-dev  ## Run all tests on SQLite and show the lines that no test runs
	@$(PY) -m tests.services run -- env -u DATABASE_URL $(PYTEST) --cov --cov-report=term

# Runs the programs in tests/benchmarks, each in its own process. They use the PostgreSQL of DATABASE_URL.
BENCHMARKS ?= scoring estimates commands sqlite-commands exports sqlite-exports memory sqlite-memory lists resampling label_noise proxies focus relevant_pairs moments replay judging sqlite-judging desk sqlite-desk pages sqlite-pages moving first_frame
# DATA and PAIRS are passed only to the programs that have the options --data and --pairs.
takes = $(shell grep -l -e '\[--$(2)' tests/benchmarks/$(1).py)
options = $(if $(and $(DATA),$(call takes,$(1),data)),--data "$(DATA)") $(if $(and $(PAIRS),$(call takes,$(1),pairs)),--pairs $(PAIRS))

# The program `scale` takes up to an hour, so it runs only if it is named: BENCHMARKS=scale PAIRS=50000000.
bench: install-dev  ## Measure times and memory (DATA=folder uses the real input in that folder)
	@$(PY) -m tests.services run -- \
		$(MAKE) --no-print-directory --keep-going $(BENCHMARKS:%=bench-%)

bench-sqlite-%: install-dev
	@echo "--- Benchmark: $*, on SQLite"
	@$(PY) -m tests.benchmarks.$* --sqlite $(call options,$*)

bench-%: install-dev
	@echo "--- Benchmark: $*"
	@$(PY) -m tests.benchmarks.$* $(call options,$*)

# The data sets of published figures are not part of Hearth. WORDNET=folder reads WordNet from another
# folder than that of Debian's package wordnet-base.
verify: install-dev  ## Compare reference figures with what Hearth computes (DATA=folder of the data sets)
	@test -n "$(DATA)" || { echo "Name the folder of the data sets: make verify DATA=folder" >&2; exit 1; }
	@$(PY) -m tests.reference --data "$(DATA)" $(if $(WORDNET),--wordnet "$(WORDNET)")

# The drills in tests/faults start their own servers. `make test` runs their short form.
faults: install-dev  ## Break a running site in many ways, and write docs/faults.md (takes an hour)
	@$(PY) -m tests.faults --long

soak: install-dev  ## Let 200 people judge for ten minutes, and write docs/soak.md
	@$(PY) -m tests.faults.soak --write

# --- Checks ---------------------------------------------------------------------------------

check: install-dev  ## Lint (Python, JavaScript), security (bandit), types, import directions, templates, migrations, deployment settings
	@$(MAKE) --no-print-directory --keep-going --jobs=2 \
		ruff format-check bandit javascript types imports templates migrations deploy

ruff:
	@$(PY) -m ruff check

format-check:
	@$(PY) -m ruff format --check

# There are no GitHub workflows, so zizmor is not run.
bandit:
	@$(PY) -m bandit --quiet --recursive --configfile pyproject.toml \
		config hearth pooling annotation evaluation manage.py

javascript:
	@$(VENV)/bin/oxlint --quiet static/js tests/js

types:
	@$(PY) -m mypy
	@MYPYPATH=client $(PY) -m mypy --disallow-untyped-defs --package hearth_client

imports:
	@$(VENV)/bin/lint-imports --no-logo

templates:
	@$(PY) -m djlint templates --lint --check --quiet

migrations:
	@env -u DATABASE_URL $(PY) manage.py makemigrations --check --dry-run

# Settings as in production: a public host name, a secret key, and both servers.
deploy:
	@DEBUG=0 ALLOWED_HOSTS=hearth.example \
		SECRET_KEY="$$($(PY) -c 'import secrets; print(secrets.token_urlsafe(64))')" \
		DATABASE_URL=postgres://db.example/hearth REDIS_URL=redis://redis.example:6379/0 \
		$(PY) manage.py check --deploy --fail-level WARNING

format: install-dev  ## Format the code and the templates
	@$(PY) -m ruff check --fix-only
	@$(PY) -m ruff format
	@$(PY) -m djlint templates --reformat --quiet

interfaces: install-dev  ## Write the calls of the client and docs/commands.md, after an option has changed
	@DJANGO_SETTINGS_MODULE=config.settings $(PY) -m config.interfaces

messages: install-dev  ## Collect the texts to translate in locale/, and compile the translations
	@$(PY) -m tests.texts

clean:  ## Remove installed packages and caches, but not the data in var/
	rm -rf $(VENV) .coverage staticfiles test-results .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
