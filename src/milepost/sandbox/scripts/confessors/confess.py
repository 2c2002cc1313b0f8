"""Runs a Python script as `python FILE` does, and writes down the exception that it ends with.

    python confess.py REPORT FILE ARGUMENTS...

It runs in the sandbox on whatever Python the project has: nothing but the standard library, no syntax that is new.
What it writes is the script's own word: the script could have written it itself.
"""

from __future__ import annotations

import json
import sys
import traceback
from pathlib import Path
from types import ModuleType, TracebackType


def main(report: str, file: str) -> None:
    sys.argv = sys.argv[2:]
    sys.path[0] = str(Path(file).absolute().parent)
    try:
        code = compile(Path(file).read_bytes(), file, "exec", dont_inherit=True)
        module = ModuleType("__main__")
        module.__dict__.update(__file__=file, __builtins__=__builtins__)
        sys.modules["__main__"] = module
        exec(code, module.__dict__)  # noqa: S102  what it is there for
    except SystemExit:
        raise
    except BaseException as error:
        text = "".join(traceback.format_exception(type(error), error, _of_the_script(error.__traceback__)))
        _write(report, error, text)
        sys.stderr.write(text)
        sys.stderr.flush()
        sys.exit(130 if isinstance(error, KeyboardInterrupt) else 1)


def _of_the_script(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    return trace


def _write(report: str, error: BaseException, text: str) -> None:
    told = {
        "names": [kind.__name__ for kind in type(error).__mro__[:-2]],
        "message": str(error)[:10_000],
        "traceback": text[-50_000:],
        "code": getattr(error, "errno", None),
        "missing": getattr(error, "name", None) if isinstance(error, ModuleNotFoundError) else None,
    }
    Path(report).write_text(json.dumps(told, default=repr))


main(sys.argv[1], sys.argv[2])
