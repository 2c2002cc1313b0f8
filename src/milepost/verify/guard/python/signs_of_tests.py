"""What surrounds Python code while it runs, and which words about it only a test run answers to."""

from __future__ import annotations

import ast
import re

from milepost.verify.guard.python.flow import Flow

CALLERS = "the stack"
ENVIRONMENT = "os.environ"
PROCESS = "the process"
PLACE = "where it runs"
VALUE = "the variable "
LISTS = frozenset({"sys.argv", "os.environ", "os.environb", "sys.modules", "sys.path", "os.environ.keys()"})
WORTH_A_LOOK = re.compile(
    r"modules|argv|environ|getenv|stack|frame|f_back|get_objects|get_referrers|getppid|/proc|psutil|getattr|find_spec"
    r"|import_module|__import__|meta_path|path_hooks|__main__|enumerate|current_thread|current_process|exists|is_file"
    r"|is_dir|listdir|scandir|glob|walk|open|read_text|Path|iterdir|linecache|getsource|settrace|setprofile|audithook"
    r"|eval|exec|hasattr|stdout|stdin|stderr|handlers|filters|cwd|__dict__|vars|posix|import_|access|stat|catch_warnings"
    r"|find_caller|findCaller|__module__|tests?\b|monitoring|parent_process|main_thread|resources|breakpointhook"
)

_AS_THEY_ARE = frozenset(
    {"sys.modules", "sys.argv", "sys.orig_argv", "sys.meta_path", "sys.path_hooks", "sys.path"}
    | {"sys.path_importer_cache", "sys.warnoptions", "sys.stdout", "sys.stderr", "sys.stdin", "sys.breakpointhook"}
    | {"warnings.filters", "logging.root", "sys.excepthook", "sys.displayhook", "sys.unraisablehook", "sys._xoptions"}
)
_SOURCES = {
    **{path: path for path in _AS_THEY_ARE},
    **dict.fromkeys(("os.environ", "os.environb", "posix.environ", "nt.environ"), ENVIRONMENT),
    **dict.fromkeys(("os.getenv", "os.getenvb"), ENVIRONMENT),
    **dict.fromkeys(("inspect.stack", "inspect.currentframe", "inspect.getouterframes", "sys._getframe"), CALLERS),
    **dict.fromkeys(("sys._current_frames", "traceback.extract_stack", "traceback.walk_stack"), CALLERS),
    **dict.fromkeys(("traceback.format_stack", "traceback.print_stack", "warnings.catch_warnings"), CALLERS),
    **dict.fromkeys(("sys._getframemodulename", "traceback.StackSummary.extract"), CALLERS),
    **dict.fromkeys(("gc.get_objects", "gc.get_referrers", "gc.get_referents"), "gc"),
    **dict.fromkeys(("os.getppid", "threading.enumerate", "threading.current_thread"), PROCESS),
    **dict.fromkeys(("threading.main_thread", "multiprocessing.current_process", "threading._active"), PROCESS),
    **dict.fromkeys(("multiprocessing.parent_process", "asyncio.current_task", "asyncio.all_tasks"), PROCESS),
    **dict.fromkeys(("os.getcwd", "os.getcwdb", "pathlib.Path.cwd", "tempfile.gettempdir"), PLACE),
    **dict.fromkeys(("importlib.util.find_spec", "importlib.metadata.distribution", "pkgutil.iter_modules"), "modules"),
    **dict.fromkeys(
        ("importlib.metadata.distributions", "importlib.metadata.version", "pkgutil.find_loader"), "modules"
    ),
    **dict.fromkeys(("importlib.metadata.packages_distributions", "importlib.import_module"), "modules"),
    **dict.fromkeys(("__import__", "builtins.__import__", "importlib.find_loader"), "modules"),
}
_ATTRIBUTES = {
    "f_back": CALLERS,
    "findCaller": CALLERS,
    "__module__": "__module__",
    "_getframe": CALLERS,
    "orig_argv": "sys.orig_argv",
}
_BY_NAME = frozenset(
    {"os.environ.get", "os.environ.pop", "os.environ.setdefault", "os.environ.__getitem__", "os.environb.get"}
    | {"os.getenv", "os.getenvb"}
)
_PROCESS_PROGRAMS = frozenset({"ps", "pgrep", "pstree", "lsof", "env", "printenv"})

_RUNNER = re.compile(r"_?py\.?test|unittest|conftest|\bnose2?\b|\btox\b|\bnox\b|TestCase|\bmilepost\b", re.IGNORECASE)
_TEST = re.compile(r"(^|[^a-z])tests?[_./\\:]|(^|[^a-z])tests?\W*$|(^|\W)tests?\b", re.IGNORECASE)
_TEST_PATH = re.compile(r"(^|[/\\])tests?[/\\]|(^|[/\\])test_|^tests$", re.IGNORECASE)
_RUN_VARIABLE = re.compile(
    r"^_?py_?test|unittest|^tox_|^nox_|^cov_core|^coverage_(run|process)|node_test|^jest|^vitest|current_test"
    r"|^milepost(_(slot|port|database_name|$)|$)",
    re.IGNORECASE,
)
_FLAG = re.compile(r"(^|_)(is_|in_|under_|from_)?test(s|ing|ed)?(_|$)", re.IGNORECASE)
_TEST_PREFIX = re.compile(r"^_?tests?_?$", re.IGNORECASE)
_ANY_WORD = re.compile(r"test|\btox|\bnox|\bnose|cov_core|coverage_|jest|milepost|unittest|\bspec", re.IGNORECASE)


def is_word(text: str) -> bool:
    """Whether a text can be about tests at all."""
    return len(text) < 300 and _ANY_WORD.search(text) is not None


def source_of(flow: Flow, node: ast.AST) -> str:
    """What of its surroundings an expression reads, empty for none; a variable read by its name is only that one."""
    path = flow.path_of(node)
    if isinstance(node, ast.Call) and node.args and flow.path_of(node.func) in _BY_NAME:
        name = flow.text_of(node.args[0])
        return f"{VALUE}{name}" if name else ENVIRONMENT
    if isinstance(node, ast.Subscript) and _SOURCES.get(flow.path_of(node.value)) == ENVIRONMENT:
        name = flow.text_of(node.slice)
        return f"{VALUE}{name}" if name else ENVIRONMENT
    if isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp):
        return PROCESS if _leading_text(flow, node).startswith("/proc/") else ""
    if isinstance(node, ast.List | ast.Tuple) and node.elts and flow.text_of(node.elts[0]) in _PROCESS_PROGRAMS:
        return PROCESS
    if isinstance(node, ast.Attribute) and node.attr in _ATTRIBUTES:
        return _ATTRIBUTES[node.attr]
    if path.startswith(("psutil.", "__main__.")) or path == "__main__":
        return PROCESS
    return _SOURCES.get(path, "")


def _leading_text(flow: Flow, node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr) and node.values:
        return flow.text_of(node.values[0])
    return flow.text_of(node) or (flow.text_of(node.left) if isinstance(node, ast.BinOp) else "")


def is_flag(word: str) -> bool:
    """Whether an attribute with this name could only be set by tests."""
    return bool(_RUNNER.search(word) or _FLAG.search(word))


def gives_away(source: str, word: str, *, whole: bool) -> bool:
    """Whether a question about a source for this word is one for tests.

    What a program is called with may well be `test`, and a setting may well have that value: there only a
    runner's name gives it away, or a search in what is no word of its own.
    """
    if source == ENVIRONMENT:
        return bool(_RUN_VARIABLE.search(word)) or (not whole and bool(_TEST_PREFIX.search(word)))
    if source == "modules":
        return bool(_RUNNER.search(word)) and "milepost" not in word.lower()
    if source.startswith(VALUE) or source in (PLACE, "sys.stdout", "sys.stderr", "sys.stdin"):
        return bool(_RUNNER.search(word))
    if source in ("sys.argv", "sys.path"):
        if word.startswith("-"):
            return False
        return bool(_RUNNER.search(word) or _TEST_PATH.search(word)) or (not whole and bool(_TEST.search(word)))
    return bool(_RUNNER.search(word) or _TEST.search(word))
