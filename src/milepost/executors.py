"""What `milepost.open_executor` returns, the changes it holds back, single commands and whole projects in the sandbox.

For example:

    from milepost import executors

    done = executors.run_command(["make", "test"], timeout_s=60)
    print(executors.explain_command(["git", "push"]).decision)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from milepost.api.executors import explain_command as explain_command
    from milepost.api.executors import run_command as run_command
    from milepost.api.executors import start_project as start_project
    from milepost.engine.commands.start_project import StartResult as StartResult
    from milepost.engine.terminals.one_command import ByHand as ByHand
    from milepost.sandbox.executor import WalledExecutor as WalledExecutor
    from milepost.sandbox.local_executor import LocalExecutor as LocalExecutor
    from milepost.sandbox.policy import Decision as Decision
    from milepost.sandbox.typescript.executor import TypeScriptExecutor as TypeScriptExecutor
    from milepost.sandbox.workspace_changes import Changes as Changes
    from milepost.sandbox.workspace_changes import PathChange as PathChange
else:
    from milepost import _lazy

    __all__, __getattr__, __dir__ = _lazy(__name__, __file__)
