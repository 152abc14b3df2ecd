"""The process that a policy runs in: observations on stdin, actions on stdout.

    python -m counterbc.robots.policy_worker policy.onnx

It starts with a line of JSON that says what it is, or why it is not. Then each question and each
answer is a record of fixed size; nothing is pickled. It imports no torch, and ends with its stdin.
"""

from __future__ import annotations

import json
import os
import struct
import sys
import time
from pathlib import Path
from typing import BinaryIO

import numpy as np

from counterbc.files import reason
from counterbc.robots.decider import PolicyFile

QUESTION = struct.Struct("<q?")  # serial number, whether an episode starts; then obs (S,)
ANSWER = struct.Struct("<qd")  # that serial number, seconds of computing; then action (A,)
NUMBER = 8  # bytes


def serve(policy: PolicyFile, questions: BinaryIO, answers: BinaryIO) -> None:
    """Answer until there are no more questions."""
    size = QUESTION.size + NUMBER * policy.obs_size
    while len(content := questions.read(size)) == size:
        serial, is_first = QUESTION.unpack_from(content)
        start = time.perf_counter()
        action = policy.act(np.frombuffer(content, "<f8", offset=QUESTION.size), is_first)
        seconds = time.perf_counter() - start
        answers.write(ANSWER.pack(serial, seconds) + action.astype("<f8").tobytes())
        answers.flush()


def failure(error: Exception) -> dict[str, str]:
    """Return why there is no policy; a library that is not installed has a key of its own."""
    if isinstance(error, ImportError) and error.name == "onnxruntime":
        return {"missing": error.name}
    return {"error": reason(error)}


def main() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not get between the answers
    try:
        policy = PolicyFile(Path(sys.argv[1]))
        policy.act(np.zeros(policy.obs_size), True)  # the first call takes longer
        facts = {"obs": policy.obs_size, "action": policy.action_size, "about": policy.about}
    except Exception as error:  # a damaged file can raise anything
        answers.write(json.dumps(failure(error)).encode() + b"\n")
        sys.exit(1)
    answers.write(json.dumps(facts).encode() + b"\n")
    answers.flush()
    with os.fdopen(0, "rb") as questions:
        serve(policy, questions, answers)


if __name__ == "__main__":
    main()
