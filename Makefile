# Every target first creates .venv if it is missing or the pinned versions changed.
# Python 3.11 or newer is all that has to be there.

PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test test-all test-cpus test-gpu test-pythons test-lerobot lint types attack attack-full bench bench-gpu system venv clean
.PHONY: environments push-t racing can meant playground

demo: .venv/.core
	@$(BIN)/counterbc demo

# Tests use one thread each and run in up to four processes, file by file.
WORKERS := --numprocesses auto --maxprocesses 4 --dist loadfile
test: venv system
	@$(BIN)/pytest $(WORKERS) $(ARGS)

# The rest: tests that take minutes and tests of simulators that are large to install.
# Two processes, because most of them start processes of their own or wait for a browser.
test-all: test .venv/.all
	@$(BIN)/pytest -m "slow or extra" --numprocesses 2 --dist loadfile $(ARGS)

# The numeric tests again, as CPUs with other instruction sets and other numbers of threads round.
NUMERIC := $(wildcard tests/weightings tests/policies tests/kernels tests/training tests/selection \
  tests/diagnosis tests/acting tests/supports tests/test_losses.py tests/test_trainer.py)
OLD_CPU := ATEN_CPU_CAPABILITY=default MKL_ENABLE_INSTRUCTIONS=SSE4_2 ONEDNN_MAX_CPU_ISA=SSE41 \
  OPENBLAS_CORETYPE=Nehalem NUMBA_CPU_NAME=generic NPY_DISABLE_CPU_FEATURES="X86_V3 X86_V4 AVX512_ICL AVX512_SPR"
AVX2_CPU := ATEN_CPU_CAPABILITY=avx2 MKL_ENABLE_INSTRUCTIONS=AVX2 ONEDNN_MAX_CPU_ISA=AVX2 \
  OPENBLAS_CORETYPE=Haswell NUMBA_CPU_NAME=haswell NUMBA_CPU_FEATURES=+avx2,+fma NPY_DISABLE_CPU_FEATURES="X86_V4 AVX512_ICL AVX512_SPR"
test-cpus: venv
	@for threads in 1 2; do \
	  echo "An old CPU, $$threads threads"; \
	  env $(OLD_CPU) OMP_WAIT_POLICY=PASSIVE OMP_NUM_THREADS=$$threads $(BIN)/pytest -q $(WORKERS) -W ignore::ImportWarning $(NUMERIC) $(ARGS) || exit 1; \
	  echo "A CPU with AVX2, $$threads threads"; \
	  env $(AVX2_CPU) OMP_WAIT_POLICY=PASSIVE OMP_NUM_THREADS=$$threads $(BIN)/pytest -q $(WORKERS) -W ignore::ImportWarning $(NUMERIC) $(ARGS) || exit 1; \
	done

test-gpu: venv
	@$(BIN)/python -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' || { \
	  echo "No CUDA device was found; make test-gpu needs one, and a build of torch for CUDA."; exit 1; }
	@$(BIN)/pytest -m gpu $(ARGS)

# The tests under other versions of Python, each in an environment of its own.
PYTHONS ?= 3.12 3.13
test-pythons:
	@for version in $(PYTHONS); do \
	  python=$$(python$$version -c 'import sys; print(sys.executable)' 2>/dev/null \
	    || ls -d ~/.pyenv/versions/$$version.*/bin/python 2>/dev/null | tail -1); \
	  test -n "$$python" || { echo "Python $$version is not installed; left out."; continue; }; \
	  echo "Python $$version"; \
	  $$python -m venv .venv-$$version && .venv-$$version/bin/pip install --quiet \
	    --disable-pip-version-check -c constraints.txt -e '.[dev]' \
	    && .venv-$$version/bin/pytest -q $(WORKERS) $(ARGS) || exit 1; \
	done

# The LeRobot plugin against both versions of LeRobot that it supports, each in an environment of
# its own. The first run downloads about 12 GB.
LEROBOTS ?= 0.6.1 0.4.4
LEROBOT_0.6.1 := 3.12 lerobot[training,dataset,diffusion,pusht]==0.6.1
LEROBOT_0.4.4 := 3.11 lerobot[pusht]==0.4.4
test-lerobot: $(foreach version,$(LEROBOTS),.venv-lerobot-$(version)/.ready)
	@for version in $(LEROBOTS); do \
	  echo "LeRobot $$version"; \
	  .venv-lerobot-$$version/bin/pytest -q -c integrations/lerobot/pyproject.toml \
	    --rootdir integrations/lerobot integrations/lerobot/tests $(ARGS) || exit 1; \
	done

.venv-lerobot-%/.ready: pyproject.toml integrations/lerobot/pyproject.toml
	@version=$(word 1,$(LEROBOT_$*)); \
	python=$$(python$$version -c 'import sys; print(sys.executable)' 2>/dev/null \
	  || ls -d ~/.pyenv/versions/$$version.*/bin/python 2>/dev/null | tail -1); \
	test -n "$$python" || { echo "LeRobot $* needs Python $$version, which is not installed."; exit 1; }; \
	echo "Installing LeRobot $* into .venv-lerobot-$*; this downloads gigabytes."; \
	$$python -m venv .venv-lerobot-$* && .venv-lerobot-$*/bin/pip install --quiet \
	  --disable-pip-version-check '$(word 2,$(LEROBOT_$*))' lerobot-doctor==0.2.0 pytest \
	  -e '.[fast]' -e integrations/lerobot
	@touch $@

lint: venv
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check

types: venv
	@$(BIN)/mypy

# Damaged and malicious files, kills, full disks, interrupts: what SECURITY.md promises. The full
# attack takes hours and resumes where it was stopped. Full disks need root for a small file system.
attack: venv system
	@$(BIN)/python -m attack $(ARGS)

attack-full: venv system
	@$(BIN)/python -m attack --full --resume $(ARGS)
	@$(BIN)/python -m attack --table

bench: venv
	@$(BIN)/python benchmarks/step.py --rounds 25 --json benchmarks/results/step.json

# The studies behind the docs. They resume: rows in reproduction/results are not computed again.
REPRODUCE := $(BIN)/python -m reproduction
RESULTS := --out reproduction/results

environments: venv
	@$(BIN)/python benchmarks/worlds.py core
	@for study in worlds methods fixed-radii; do $(REPRODUCE) run $$study $(RESULTS) || exit 1; done
	@$(REPRODUCE) run environments
	@$(REPRODUCE) docs environments

# DATA is the file of human demonstrations, pusht_human_206.hdf5. It takes hours on two cores.
push-t: venv system
	@test -f "$(DATA)" || { echo "name the file of human demonstrations: make push-t DATA=FILE"; exit 1; }
	@$(REPRODUCE) run push-t --data "$(DATA)" $(RESULTS)
	@$(REPRODUCE) docs push-t

# It takes hours without a GPU.
RACING := --env car-racing --study car-racing $(RESULTS)
FOUR := --noise uniform gaussian quick-crowd quick-typical
racing: venv system
	@for command in run draw; do \
	  $(REPRODUCE) $$command figure4 table1 $(RACING) $(FOUR) || exit 1; \
	  $(REPRODUCE) $$command figure5 figure6 $(RACING) || exit 1; done
	@$(REPRODUCE) run car-racing-dimensions $(RESULTS)
	@$(REPRODUCE) run car-racing-pedals $(RESULTS)
	@$(REPRODUCE) docs car-racing

# Radius, scores, cleaning, modes and intents. DATA is the folder of human demonstrations.
# It takes hours.
meant: venv
	@test -d "$(DATA)" || { echo "name the folder of human demonstrations: make meant DATA=FOLDER"; exit 1; }
	@$(REPRODUCE) run radius $(RESULTS)
	@$(REPRODUCE) run radius --cost
	@$(REPRODUCE) run radius-errors $(RESULTS)
	@$(REPRODUCE) run scores --first 207 --worlds intersection $(RESULTS)
	@$(REPRODUCE) run explained $(RESULTS)
	@$(REPRODUCE) run speed $(RESULTS)
	@$(REPRODUCE) run clean --block 1 $(RESULTS)
	@$(REPRODUCE) run modes $(RESULTS)
	@$(REPRODUCE) run intents --data "$(DATA)" $(RESULTS)
	@$(REPRODUCE) docs radius scores clean modes intents

bench-gpu: venv
	@$(BIN)/python benchmarks/gpu.py --out benchmarks/results/gpu.json

can: venv system
	@$(INSTALL) -e '.[can]'
	@test -f can_synthetic_mh_300.hdf5 || $(REPRODUCE) run can-record --out can_synthetic_mh_300.hdf5
	@$(REPRODUCE) run can --data can_synthetic_mh_300.hdf5 $(RESULTS)
	@$(REPRODUCE) run can-weights --data can_synthetic_mh_300.hdf5 $(RESULTS)
	@test -f can_synthetic_mh_90.hdf5 || $(REPRODUCE) run can-record --each 15 --out can_synthetic_mh_90.hdf5
	@$(BIN)/counterbc score can_synthetic_mh_90.hdf5 --radius 0.2 --repeats 1 --rounds 1 --steps 2000 --json \
	  > can-scores.json && mv can-scores.json reproduction/results/can-scores/numbers.json
	@$(REPRODUCE) docs can scores

# The page without a server: build/playground.html.
playground: venv
	@$(INSTALL) -e '.[playground]'
	@$(REPRODUCE) draw playground

# System libraries that the simulators draw with, and the browser that tests the studio. Where apt-get cannot be used the rest still works.
SYSTEM := libosmesa6 libgl1 libglib2.0-0 chromium
system:
	@dpkg -s $(SYSTEM) >/dev/null 2>&1 \
	  || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $(SYSTEM); } \
	    >/dev/null 2>&1 \
	  || echo "Could not install $(SYSTEM) with apt-get: tests that draw some worlds, and those in a browser, are skipped where they are missing."

# Three stages, each on top of the one before: what the demo needs, the tools and the light
# worlds that the tests need, and everything.
venv: .venv/.dev

.venv/.core: pyproject.toml constraints.txt
	@echo "Installing counterbc and its pinned libraries into .venv; this takes a few minutes."
	@$(PYTHON) -m venv .venv
	@$(INSTALL) -e '.[fast]'
	@touch $@

.venv/.dev: .venv/.core
	@echo "Installing the tools and simulators for the tests."
	@$(INSTALL) -e '.[dev]'
	@touch $@

.venv/.all: .venv/.dev
	@echo "Installing every extra."
	@$(INSTALL) -e '.[all,dev,playground]'
	@touch $@

clean:
	rm -rf .venv .venv-3.* .venv-lerobot-* .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
	find src tests benchmarks reproduction attack integrations -name __pycache__ -type d -prune -exec rm -rf {} +
