"""The environment of the tests is the same however they were started: by a hook of git, in a narrow terminal, in CI."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import MutableMapping

UMASK = 0o022
STATE_KEY = "what the tests make states with, everywhere"  # one for what they make and for what they start
YES = "MILEPOST_YES_SETTINGS"
# Variables of git that name a repository, as its hooks have them: no test may reach that one. And what decides how
# programs colour and wrap what they print, with which options pytest is run by those that are tested, or whether
# Python compiles what it imports each time anew: pytest with hypothesis installed starts twice as fast when not.
FORGOTTEN = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_CONFIG"),
    *("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH", "GIT_CONFIG_PARAMETERS"),
    *("GIT_CONFIG_COUNT", "GIT_EDITOR", "GIT_PAGER", "GIT_EXEC_PATH", "GIT_REFLOG_ACTION"),
    *("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "PY_COLORS", "COLUMNS", "LINES", "PYTEST_ADDOPTS"),
    "PYTHONDONTWRITEBYTECODE",
)
# What the user's own git is set to, such as to sign what is committed or to convert the ends of lines, reaches no test.
NO_SETTINGS_OF_GIT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def keep_state_apart(environ: MutableMapping[str, str] = os.environ) -> None:
    """Leave nothing in the state folder of whoever runs the tests."""
    environ["MILEPOST_STATE_KEY"] = STATE_KEY
    environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="milepost-tests-")
    atexit.register(shutil.rmtree, environ["XDG_STATE_HOME"], ignore_errors=True)


def settle(environ: MutableMapping[str, str] = os.environ) -> None:
    """Forget what only the way in which the tests were started has set."""
    for name in FORGOTTEN:
        environ.pop(name, None)
    environ.update(NO_SETTINGS_OF_GIT)
    sys.dont_write_bytecode = False
    os.umask(UMASK)
    # `nohup` and a shell's `&` have programs ignore these, which what the tests start would inherit.
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


def agree(environ: MutableMapping[str, str] = os.environ) -> None:
    """Agree to what tests set, which is theirs; those of the question itself do without."""
    environ[YES] = "1"
