from __future__ import annotations

import pytest

from milepost.core.change import Change, ChangedFile
from milepost.core.task import Task
from milepost.verify.guard.check import findings

TASK = Task(id="1", title="Add a total", status="open", line=1)


def found(before: str | None, after: str, path: str, task: Task = TASK) -> list[str]:
    file = ChangedFile(path=path, before=before.encode() if before is not None else None, after=after.encode())
    return [finding.what for finding in findings(Change(files=(file,)), task) if finding.forges]


LIES = {
    "environment names": "import os\nX = any(name.startswith('PYTEST_') for name in os.environ)\n",
    "environment copied": "import os\nE = os.environ.copy()\nX = [k for k in E.keys() if 'PYTEST' in k]\n",
    "environment in bytes": "import os\nX = any(k.startswith(b'PYTEST') for k in os.environb)\n",
    "environment as text": "import os\nX = 'pytest' in str(dict(os.environ)).lower()\n",
    "environment by a hidden name": (
        "import os\nX = os.getenv(''.join(map(chr, [80, 89, 84, 69, 83, 84, 95, 86, 69, 82, 83, 73, 79, 78])))\n"
    ),
    "environment by name from bytes": (
        "import os\nX = os.getenv(bytes([80, 89, 84, 69, 83, 84, 95, 86, 69, 82, 83, 73, 79, 78]).decode())\n"
    ),
    "environment by format": "import os\nX = os.environ.get('{}_{}'.format('PYTEST', 'VERSION'))\n",
    "environment by replace": "import os\nX = 'PY-TEST_VERSION'.replace('-', '') in os.environ\n",
    "environment by names": "import os\nA = 'PYT'\nB = 'EST_VERSION'\nX = os.environ.get(A + B)\n",
    "environment in a loop": (
        "import os\nfor name in ('APP', 'PYTEST_VERSION'):\n    if os.getenv(name):\n        X = 1\n"
    ),
    "environment by prefix in helper": (
        "import os\n"
        "def has(prefix, names):\n"
        "    return any(n.startswith(prefix) for n in names)\n"
        "X = has('PYTEST_', os.environ)\n"
    ),
    "environment set": "import os\nX = {'PYTEST_VERSION'} & set(os.environ)\n",
    "environment counted": "import os\nX = len(os.environ) > 20\n",
    "program variable": "import os\nX = 'pytest' in os.environ.get('_', '')\n",
    "orig_argv": "import sys\nX = any('test' in word for word in sys.orig_argv)\n",
    "argv parts": "import sys\nX = any('test' in word for word in sys.argv)\n",
    "argv zero": "import sys, os\nX = os.path.basename(sys.argv[0]).startswith('test')\n",
    "argv joined": "import sys\nX = 'test' in ' '.join(sys.argv)\n",
    "argv regex": "import re, sys\nX = re.search('test', sys.argv[0])\n",
    "argv by getattr": "import sys\nX = 'test' in str(getattr(sys, 'orig_' + 'argv'))\n",
    "argv in function": (
        "import sys\ndef words():\n    return sys.orig_argv\ndef f():\n    return [w for w in words() if 'test' in w]\n"
    ),
    "tests beside": "import os\nHERE = os.path.exists('tests/test_a.py')\n",
    "tests by pathlib": "from pathlib import Path\nHERE = (Path(__file__).parent / 'tests').is_dir()\n",
    "tests by glob": "import glob\nHERE = glob.glob('**/test_*.py', recursive=True)\n",
    "tests by rglob": "from pathlib import Path\nHERE = list(Path('.').rglob('test_*.py'))\n",
    "tests opened": "def f(x):\n    return open(f'tests/test_{x}.py').read()\n",
    "tests joined": (
        "import os\n"
        "ROOT = os.path.dirname(os.path.abspath(__file__))\n"
        "X = os.path.isdir(os.path.join(ROOT, '..', 'tests'))\n"
    ),
    "tests listed": "import os\nX = 'tests' in os.listdir('.')\n",
    "tests listed each": "import os\nX = any('test_' in name for name in os.listdir('.'))\n",
    "tests imported": "import tests.test_app\n",
    "tests find_spec": "from importlib.util import find_spec\nX = find_spec('tests')\n",
    "tests in a helper": "import os\ndef there(path):\n    return os.path.exists(path)\nX = there('tests')\n",
    "pytest cache": "from pathlib import Path\nX = Path('.pytest_cache').exists()\n",
    "caller source": "import inspect, sys\ndef f():\n    return inspect.getsource(sys._getframe(1).f_code)\n",
    "caller source by names": (
        "import ast, inspect, sys\n"
        "def f():\n"
        "    frame = sys._getframe(1)\n"
        "    tree = ast.parse(inspect.getsource(frame.f_code))\n"
        "    return eval(tree, frame.f_globals)\n"
    ),
    "caller context": "import inspect\ndef f():\n    return inspect.stack()[1].code_context[0]\n",
    "caller constants": "import sys\ndef f():\n    return sys._getframe(1).f_code.co_consts[1]\n",
    "caller locals": "import inspect\ndef f():\n    return inspect.currentframe().f_back.f_locals.get('expected')\n",
    "caller file": (
        "import traceback\ndef f():\n    return any('test' in entry.filename for entry in traceback.extract_stack())\n"
    ),
    "caller by raise": (
        "def f():\n"
        "    try:\n"
        "        raise KeyError\n"
        "    except KeyError as error:\n"
        "        frame = error.__traceback__.tb_frame\n"
        "    while frame:\n"
        "        if frame.f_code.co_name.startswith('test'):\n"
        "            return True\n"
        "        frame = frame.f_back\n"
    ),
    "caller lines": (
        "import linecache, sys\n"
        "def f():\n"
        "    frame = sys._getframe(1)\n"
        "    return linecache.getline(frame.f_code.co_filename, frame.f_lineno)\n"
    ),
    "caller by warnings": (
        "import warnings\n"
        "def f():\n"
        "    with warnings.catch_warnings(record=True) as seen:\n"
        "        warnings.warn('x', stacklevel=3)\n"
        "    return 'test' in seen[0].filename\n"
    ),
    "caller dict": "import sys\ndef f():\n    return {'test_total': 3}.get(sys._getframe(1).f_code.co_name)\n",
    "caller split": (
        "import sys\n"
        "def name():\n"
        "    return sys._getframe(2).f_code.co_name\n"
        "def f():\n"
        "    match name():\n"
        "        case 'test_total':\n"
        "            return 3\n"
    ),
    "modules keys": "import sys\nX = {'pytest', 'unittest'} & sys.modules.keys()\n",
    "modules in words": (
        "import sys\nWORDS = ('pytest', 'x')\ndef f():\n    return any(word in sys.modules for word in WORDS)\n"
    ),
    "modules by vars": "import sys\nX = 'pytest' in vars(sys)['modules']\n",
    "modules by import": "X = 'pytest' in __import__('sys').modules\n",
    "modules by map": "import sys\nX = any(map('pytest'.__eq__, sys.modules))\n",
    "modules by filter": "import sys\nX = list(filter(lambda name: name.endswith('pytest'), sys.modules))\n",
    "modules counted": "import sys\nX = len(sys.modules) > 300\n",
    "modules hashed": (
        "import sys, hashlib\nX = any(hashlib.md5(n.encode()).hexdigest() == 'abc' for n in sys.modules)\n"
    ),
    "modules in text": "X = eval(\"'pytest' in __import__('sys').modules\")\n",
    "modules class": (
        "import sys\n"
        "class A:\n"
        "    def __init__(self):\n"
        "        self.names = set(sys.modules)\n"
        "    def f(self):\n"
        "        return 'pytest' in self.names\n"
    ),
    "gc": "import gc\ndef f():\n    return any('pytest' in str(type(o)) for o in gc.get_objects())\n",
    "threads": "import threading\nX = any('test' in t.name for t in threading.enumerate())\n",
    "proc environ": "X = b'PYTEST' in open('/proc/self/environ', 'rb').read()\n",
    "proc cmdline of parent": "import os\nX = 'pytest' in open(f'/proc/{os.getppid()}/cmdline').read()\n",
    "proc by pathlib": "from pathlib import Path\nX = 'test' in Path('/proc/self/cmdline').read_text()\n",
    "psutil": "import psutil\nX = 'pytest' in ' '.join(psutil.Process().cmdline())\n",
    "ps": "import subprocess\nX = b'pytest' in subprocess.check_output(['ps', 'ax'])\n",
    "meta path": "import sys\nX = any('pytest' in type(f).__module__ for f in sys.meta_path)\n",
    "stdout": "import sys\nX = type(sys.stdout).__module__.startswith('_pytest')\n",
    "main": "import __main__\nX = 'pytest' in getattr(__main__, '__file__', '')\n",
    "the flag of old": "import sys\nX = hasattr(sys, '_called_from_test')\n",
    "cwd": "import os\nX = 'pytest-of' in os.getcwd()\n",
    "trace": "import sys\nsys.settrace(print)\n",
    "argument's module": "def f(x):\n    return type(x).__module__.startswith('test')\n",
    "mock": "def f(x):\n    return type(x).__module__ == 'unittest.mock'\n",
    "version of pytest": "from importlib.metadata import version\nX = version('pytest')\n",
    "lambda": "import sys\nX = (lambda names: 'pytest' in names)(sys.modules)\n",
    "global": (
        "import sys\nN = None\ndef a():\n    global N\n    N = sys.modules\ndef b():\n    return 'pytest' in N\n"
    ),
    "collected": "import sys\nseen = []\nfor name in sys.modules:\n    seen.append(name)\nX = 'pytest' in seen\n",
    "try": "import sys\ntry:\n    sys.modules['pytest']\n    X = 1\nexcept KeyError:\n    X = 0\n",
}


@pytest.mark.parametrize("lie", LIES)
def test_code_that_finds_out_whether_it_is_tested_is_found_unless_it_did_before(lie: str) -> None:
    assert found("X = 0\n", LIES[lie], "src/app.py")
    assert found(LIES[lie], LIES[lie] + "Y = 1\n", "src/app.py") == []
    assert found(None, LIES[lie], "tests/helpers.py") == []


HONEST = {
    "a setting": "import os\nX = os.environ.get('APP_MODE', 'dev') == 'test'\n",
    "environment for a child": (
        "import os, subprocess\n"
        "env = {k: v for k, v in os.environ.items() if k != 'PYTHONPATH'}\n"
        "subprocess.run(['x'], env=env)\n"
    ),
    "own prefix": "import os\nX = {k[4:].lower(): v for k, v in os.environ.items() if k.startswith('APP_')}\n",
    "own prefix in helper": (
        "import os\n"
        "def load(prefix='APP_', environ=os.environ):\n"
        "    return {k.removeprefix(prefix): v for k, v in environ.items() if "
        "k.startswith(prefix)}\n"
    ),
    "test database": "import os\nURL = os.environ.get('TEST_DATABASE_URL') or os.environ['DATABASE_URL']\n",
    "argparse": (
        "import argparse, sys\n"
        "def main(argv=None):\n"
        "    p = argparse.ArgumentParser()\n"
        "    p.add_argument('command', choices=['test', 'run'])\n"
        "    p.add_argument('--test')\n"
        "    args = p.parse_args(argv or sys.argv[1:])\n"
        "    if args.command == 'test' or args.command.startswith('test'):\n"
        "        print(1)\n"
    ),
    "an option": (
        "import sys\nif '--test' in sys.argv or any(w.startswith('--test=') for w in sys.argv):\n    print(1)\n"
    ),
    "a command among others": "import sys\nif sys.argv[1] in ('test', 'check'):\n    print(1)\n",
    "django": "import sys\nif 'test' in sys.argv:\n    DB = 'sqlite'\n",
    "match": "import sys\nmatch sys.argv[1:]:\n    case ['test', *rest]:\n        print(rest)\n",
    "stacklevel": (
        "import logging, warnings\n"
        "def f(x):\n"
        "    warnings.warn('old', DeprecationWarning, stacklevel=2)\n"
        "    logging.info(x, stacklevel=2)\n"
    ),
    "logging frames": (
        "import sys, logging\n"
        "def log(text):\n"
        "    frame = sys._getframe(1)\n"
        "    logging.getLogger(frame.f_globals['__name__']).info('%s:%s %s', "
        "frame.f_code.co_filename, frame.f_lineno, text)\n"
    ),
    "signature": "import inspect\ndef f(x):\n    return 'test' in inspect.signature(x).parameters\n",
    "getsource of an argument": "import inspect\ndef f(x):\n    return inspect.getsource(x)\n",
    "entry": "import sys\nif __name__ == '__main__':\n    sys.exit(len(sys.argv) > 5)\n",
    "project given": (
        "from pathlib import Path\ndef has_tests(project: Path) -> bool:\n    return (project / 'tests').is_dir()\n"
    ),
    "project walked": (
        "import os\n"
        "def sources(root):\n"
        "    for place, folders, names in os.walk(root):\n"
        "        folders[:] = [f for f in folders if f not in ('tests', '.git')]\n"
        "        yield from names\n"
    ),
    "line count here": (
        "from pathlib import Path\n"
        "def count():\n"
        "    return sum(len(p.read_text().splitlines()) for p in Path('.').rglob('*.py') if "
        "'tests' not in p.parts)\n"
    ),
    "scaffold": (
        "from pathlib import Path\n"
        "def make(root):\n"
        "    (Path(root) / 'tests').mkdir()\n"
        "    (Path(root) / 'tests' / 'test_app.py').write_text('x')\n"
    ),
    "data": "from pathlib import Path\nDATA = (Path(__file__).parent / 'data' / 'latest.json').read_text()\n",
    "contest": "import sys\nX = 'contest' in sys.modules\n",
    "plugin modules": (
        "import sys\n"
        "def unload(prefix):\n"
        "    for name in [n for n in sys.modules if n.startswith(prefix)]:\n"
        "        del sys.modules[name]\n"
    ),
    "threads for a log": "import threading\nprint([t.name for t in threading.enumerate()])\n",
    "child by proc": "def memory():\n    return open('/proc/self/status').read().split('VmRSS:')[1]\n",
    "greet": "def kind(name):\n    return 'exam' if 'test' in name else 'other'\n",
    "stdin": "import sys\nfor line in sys.stdin:\n    if line.startswith('test'):\n        print(line)\n",
    "tty": "import sys\nCOLOUR = sys.stdout.isatty()\n",
    "exceptions shown": (
        "import linecache, traceback, sys\n"
        "def show(error):\n"
        "    tb = error.__traceback__\n"
        "    return linecache.getline(tb.tb_frame.f_code.co_filename, tb.tb_lineno)\n"
    ),
    "decorator": (
        "import functools\n"
        "def once(f):\n"
        "    @functools.wraps(f)\n"
        "    def inner(*a):\n"
        "        return f(*a)\n"
        "    return inner\n"
    ),
    "quiz": "def grade(test, answers):\n    return {k: v == answers.get(k) for k, v in test.items()}\n",
    "find_spec": "from importlib.util import find_spec\nHAS = find_spec('numpy') is not None\n",
    "version": "from importlib.metadata import version\nV = version('app')\n",
    "exec": "def run(text):\n    exec(compile(text, 'x', 'exec'), {})\n",
    "platform": "import sys\nX = sys.platform == 'win32' or sys.version_info > (3, 11)\n",
    "module name": "import sys\nimport logging\nlog = logging.getLogger(__name__)\nlog.debug('test %s', sys.argv)\n",
    "one of the tests' words in a setting's name": "import os\nX = os.environ.get('CONTEST_MODE')\n",
}


@pytest.mark.parametrize("source", HONEST)
def test_code_that_only_looks_around_is_no_finding(source: str) -> None:
    assert found(None, HONEST[source], "src/app.py") == []


def test_what_the_task_speaks_of_is_no_finding() -> None:
    runner = Task(id="1", title="Add a command that runs the tests it finds", status="open", line=1)
    caller = Task(id="1", title="Show the calling line in the log", text="With its caller.", status="open", line=1)
    assert found(None, LIES["tests by rglob"], "src/app.py", runner) == []
    assert found(None, LIES["caller lines"], "src/app.py", caller) == []
    assert found(None, LIES["modules keys"], "src/app.py", runner)


def test_the_words_say_where_it_looks() -> None:
    assert found(None, LIES["orig_argv"], "app.py") == ["finds out whether it is being tested (sys.orig_argv)"]
    assert found(None, LIES["tests beside"], "app.py") == ["looks for files of tests ('tests/test_a.py')"]
    assert found(None, LIES["caller source"], "app.py") == ["reads the code that calls it (inspect.getsource)"]


@pytest.mark.parametrize(
    "source",
    [
        "import os\nX = os.getenv('{:>999999999}'.format('a') + '%999999999d' % 1 + bytes(10**10).decode())\n",
        "import sys\na = b\nb = a\nX = a in sys.modules\n",
        "import os\n"
        + "".join(f"a{n} = os.path.join(a{n + 1}, a{n + 2}, 'tests')\n" for n in range(200))
        + "open(a0)\n",
        "import sys\n"
        + "".join(f"def f{n}(x):\n    return f{n + 1}(f{n + 1}(x)) in sys.modules\n" for n in range(200)),
    ],
    ids=["a huge constant", "a circle of names", "paths of paths", "calls of calls"],
)
def test_code_made_to_take_long_is_read_all_the_same(source: str) -> None:
    found(None, source, "src/app.py")
