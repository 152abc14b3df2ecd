# Every target makes .venv first, if it is not there or the pins changed. Nothing else is needed.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint types bench bench-gpu environments push-t racing can meant system venv clean

demo: venv
	@$(BIN)/counterbc demo

test: venv
	@$(BIN)/pytest

lint: venv
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check

types: venv
	@$(BIN)/mypy

bench: venv
	@$(BIN)/python benchmarks/step.py

environments: venv
	@$(BIN)/python benchmarks/worlds.py --out benchmarks/results/worlds.json
	@$(BIN)/python benchmarks/methods.py --out benchmarks/results/methods.json
	@$(BIN)/python benchmarks/fixed_radii.py --out benchmarks/results/fixed-radii.json
	@$(BIN)/python benchmarks/environments.py

# DATA is the file of human demonstrations, pusht_human_206.hdf5. Hours on two cores; it resumes.
push-t: venv system
	@test -f "$(DATA)" || { echo "name the file of people's demonstrations: make push-t DATA=FILE"; exit 1; }
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[pusht]'
	@$(BIN)/python benchmarks/push_t.py study --data "$(DATA)"
	@$(BIN)/python benchmarks/push_t.py table

# Hours without a GPU; it resumes.
racing: venv system
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[racing]'
	@$(BIN)/python benchmarks/car_racing.py study
	@for what in figure4 table1; do $(BIN)/counterbc reproduce $$what --env car-racing --noise uniform \
	  --noise gaussian --noise crowd --noise typical --out results/car-racing || exit 1; done
	@for what in figure5 figure6; do \
	  $(BIN)/counterbc reproduce $$what --env car-racing --out results/car-racing || exit 1; done
	@$(BIN)/python benchmarks/car_racing.py dimensions
	@$(BIN)/python benchmarks/car_racing.py table
	@$(BIN)/python benchmarks/car_racing_pedals.py

# Everything about radius, scores, cleaning, modes and intents, for hours; DATA is the folder of the files of
# people. It goes on where it was: without benchmarks/results/NAME.json that part is measured anew.
meant: venv
	@test -d "$(DATA)" || { echo "name the folder of people's demonstrations: make meant DATA=FOLDER"; exit 1; }
	@$(BIN)/python benchmarks/radius.py --out benchmarks/results/radius.json
	@$(BIN)/python benchmarks/radius.py --cost
	@$(BIN)/python benchmarks/radius_errors.py --seeds 10 --out benchmarks/results/radius_errors.json
	@$(BIN)/python benchmarks/scores.py --first 207 --worlds intersection
	@$(BIN)/python benchmarks/clean.py --seeds 20 --block 1
	@$(BIN)/python benchmarks/modes.py
	@$(BIN)/python benchmarks/intents.py --data "$(DATA)"

bench-gpu: venv
	@$(BIN)/python benchmarks/gpu.py --out benchmarks/results/gpu.json

can: venv system
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[can]'
	@test -f can_synthetic_mh_300.hdf5 || $(BIN)/python benchmarks/can_record.py --out can_synthetic_mh_300.hdf5
	@$(BIN)/python benchmarks/can.py study --data can_synthetic_mh_300.hdf5
	@$(BIN)/python benchmarks/can.py table
	@test -f can_synthetic_mh_90.hdf5 || $(BIN)/python benchmarks/can_record.py --each 15 --out can_synthetic_mh_90.hdf5
	@$(BIN)/counterbc score can_synthetic_mh_90.hdf5 --radius 0.2 --repeats 1 --rounds 1 --steps 2000 --json \
	  > can-scores.json && mv can-scores.json benchmarks/results/

# Libraries of the system that simulators draw with; where apt-get cannot be used, the rest still works.
SYSTEM := libosmesa6 libgl1 libglib2.0-0
system:
	@dpkg -s $(SYSTEM) >/dev/null 2>&1 || { apt-get update -qq && apt-get install -y -qq $(SYSTEM); } \
	  || echo "could not install $(SYSTEM); pictures of the world can need them"

venv: .venv/.installed

.venv/.installed: pyproject.toml constraints.txt
	@echo "Installing counterbc and its pinned libraries into .venv; this takes a few minutes."
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@
	@echo "Installed."

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
