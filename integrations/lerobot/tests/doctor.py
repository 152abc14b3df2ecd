"""lerobot-doctor, an outside check of datasets."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


def failed_checks(folder: Path) -> dict[str, list[str]]:
    """Return what lerobot-doctor says is wrong with a dataset, by check; empty if it accepts it.

    Its warnings are about what the data are like: short episodes, no images, constant numbers.
    """
    command = [str(Path(sys.executable).parent / "lerobot-doctor"), str(folder), "--json"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode in (0, 1), result.stdout[-3000:] + result.stderr[-1000:]
    checks = {check["name"]: check for check in json.loads(result.stdout)["checks"]}
    assert "Metadata & Format Compliance" in checks
    failures = {
        name: [m["message"] for m in check["messages"] if m["severity"] == "FAIL"]
        for name, check in checks.items()
        if check["severity"] == "FAIL"
    }
    assert bool(failures) == bool(result.returncode)
    return failures
