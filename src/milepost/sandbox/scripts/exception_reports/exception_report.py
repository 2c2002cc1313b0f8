"""Runs a Python program as `python` itself does, and writes the exception that it ends with to a report.

    python exception_report.py REPORT FILE ARGUMENTS...
    python exception_report.py REPORT -m MODULE ARGUMENTS...
    python exception_report.py REPORT -c CODE ARGUMENTS...

It runs in the sandbox on whatever Python the project has: only the standard library, no recent syntax.
The report cannot be trusted: the program could have written it itself.
"""

from __future__ import annotations

import json
import runpy
import sys
import traceback
from pathlib import Path
from types import ModuleType, TracebackType


def main(report: str, words: list[str]) -> None:
    try:
        if words[0] == "-m":
            sys.path[0] = str(Path.cwd())
            sys.argv = words[1:]
            runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        elif words[0] == "-c":
            sys.path[0] = ""
            sys.argv = ["-c", *words[2:]]
            _run(words[1].encode(), "<string>")
        else:
            sys.path[0] = str(Path(words[0]).resolve().parent)
            sys.argv = words
            _run(Path(words[0]).read_bytes(), words[0])
    except SystemExit:
        raise
    except BaseException as error:
        text = "".join(traceback.format_exception(type(error), error, _of_the_program(error.__traceback__)))
        _write(report, error, text)
        sys.stderr.write(text)
        sys.stderr.flush()
        sys.exit(130 if isinstance(error, KeyboardInterrupt) else 1)


def _run(source: bytes, file: str) -> None:
    code = compile(source, file, "exec", dont_inherit=True)
    module = ModuleType("__main__")
    module.__dict__.update(__builtins__=__builtins__)
    if file != "<string>":
        module.__dict__.update(__file__=file)
    sys.modules["__main__"] = module
    exec(code, module.__dict__)  # noqa: S102  what it is there for


def _of_the_program(trace: TracebackType | None) -> TracebackType | None:
    ours = (__file__, runpy.__file__, "<frozen runpy>")
    while trace is not None and trace.tb_frame.f_code.co_filename in ours:
        trace = trace.tb_next
    return trace


def _write(report: str, error: BaseException, text: str) -> None:
    written = {
        "names": [kind.__name__ for kind in type(error).__mro__[:-2]],
        "message": str(error)[:10_000],
        "traceback": text[-50_000:],
        "code": getattr(error, "errno", None),
        "missing": getattr(error, "name", None) if isinstance(error, ModuleNotFoundError) else None,
    }
    Path(report).write_text(json.dumps(written, default=repr))


main(sys.argv[1], sys.argv[2:])
