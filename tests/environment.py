"""The environment of the tests is the same however they were started: by a hook of git, in a narrow terminal, in CI."""

from __future__ import annotations

import os
import signal
from collections.abc import MutableMapping

UMASK = 0o022
# Variables of git that name a repository, as its hooks have them: no test may reach that one. And what decides how
# programs colour and wrap what they print, or with which options pytest is run by those that are tested.
FORGOTTEN = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_CONFIG"),
    *("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH", "GIT_CONFIG_PARAMETERS"),
    *("GIT_CONFIG_COUNT", "GIT_EDITOR", "GIT_PAGER", "GIT_EXEC_PATH", "GIT_REFLOG_ACTION"),
    *("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "PY_COLORS", "COLUMNS", "LINES", "PYTEST_ADDOPTS"),
)


def settle(environ: MutableMapping[str, str] = os.environ) -> None:
    """Forget what only the way in which the tests were started has set."""
    for name in FORGOTTEN:
        environ.pop(name, None)
    os.umask(UMASK)
    # `nohup` and a shell's `&` have programs ignore these, which what the tests start would inherit.
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
