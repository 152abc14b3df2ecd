"""A rival in a process of its own, which is asked over a pipe."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from benchmarks.rivals.environments import ROOT


class RivalProcess:
    """A worker of one rival; compiled code is kept in `cache` and nowhere else."""

    def __init__(self, python: Path, module: str, problem: Path, cache: Path) -> None:
        cache.mkdir(parents=True, exist_ok=True)
        self.log = (cache / f"{module}.log").open("a+")
        caches = {
            "NUMBA_CACHE_DIR": str(cache / "numba"),
            "XDG_CACHE_HOME": str(cache),
            "TORCHINDUCTOR_CACHE_DIR": str(cache / "inductor"),
            "JAX_PLATFORMS": "cpu",
        }
        paths = f"{ROOT / 'src'}{os.pathsep}{ROOT}"
        # `import counterbc` chose how this process waits; rivals have the default of their library.
        inherited = {k: v for k, v in os.environ.items() if k != "OMP_WAIT_POLICY"}
        self.process = subprocess.Popen(
            [python, "-W", "ignore", "-m", "benchmarks.rivals.worker", module, str(problem)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            env=inherited | caches | {"PYTHONPATH": paths},
            cwd=ROOT,
        )

    def ask(self, do: str, variant: str, steps: int = 0) -> dict[str, Any]:
        """Return the answer to a request; an error if the process ended."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        request = json.dumps({"do": do, "variant": variant, "steps": steps})
        try:
            print(request, file=self.process.stdin, flush=True)
            answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        except (BrokenPipeError, json.JSONDecodeError):
            self.log.seek(0)
            last = self.log.read().strip().splitlines()[-1:] or ["no message"]
            return {"error": f"the process ended: {last[0]}"}
        return answer

    def close(self) -> None:
        """End the process."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait()
        self.log.close()
