"""Python at a trust level, as a class: a session that keeps variables, with the imports that its code may use."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from milepost.core.commands import NO_NETWORK, ExecutionLimits, ExecutionResult, TrustLevel, trust_named
from milepost.core.errors import ExecutionFailed, ExecutionTimeout, SettingInvalid
from milepost.sandbox import executors, levels
from milepost.sandbox.local_executor import LocalExecutor
from milepost.sandbox.refused_code import HARMLESS_MODULES


class PythonExecutor:
    """Runs Python code in a session of the sandbox, at `trust_level` or the strongest of this machine.

    At level `local`, code may import harmless modules of the standard library: `extra_imports` adds to them, `imports`
    replaces them. The other levels hold code by walls and let it import everything, so `imports` is refused there.
    """

    def __init__(
        self,
        trust_level: TrustLevel | str | None = None,
        *,
        limits: ExecutionLimits | None = None,
        imports: Collection[str] | None = None,
        extra_imports: Collection[str] = (),
        workspace: Path | str | None = None,
    ) -> None:
        self.trust_level = levels.strongest() if trust_level is None else trust_named(str(trust_level))
        self.limits = limits or ExecutionLimits()
        self._modules = frozenset(HARMLESS_MODULES if imports is None else imports) | frozenset(extra_imports)
        if self.trust_level is TrustLevel.LOCAL and workspace is None:
            levels.require(self.trust_level)
            self._executor: Any = LocalExecutor(self.limits, modules=self._modules)
            return
        if imports is not None:
            raise SettingInvalid(
                f"imports cannot be limited at trust level {self.trust_level.value!r}", "use trust level 'local'"
            )
        folder = None if workspace is None else Path(workspace).absolute()
        self._executor = executors.open_executor(self.trust_level, self.limits, workspace=folder, network=NO_NETWORK)

    @property
    def held_in_words(self) -> str:
        """What the code is told about where it runs."""
        if self.trust_level is TrustLevel.LOCAL:
            return (
                "There are no files, no network, no programs and no classes that inherit. It can import only: "
                f"{', '.join(sorted(self._modules)) or 'nothing'}."
            )
        return "It can use the whole standard library. There is no network."

    def run(self, code: str, *, timeout_s: float | None = None) -> ExecutionResult:
        """Run code in the session; what goes wrong with it is in the result."""
        result: ExecutionResult = self._executor.run(code, timeout_s=timeout_s)
        return result

    def evaluate(self, code: str, *, timeout_s: float | None = None) -> Any:
        """The value of code: of its `final_answer`, else of its last expression; raises where it fails."""
        result = self.run(code, timeout_s=timeout_s)
        if result.timeout:
            limit_s = self.limits.timeout_s if timeout_s is None else min(timeout_s, self.limits.timeout_s)
            raise ExecutionTimeout(result.error or "it ran too long", "allow it more time", timeout_s=limit_s)
        if result.error is not None:
            raise ExecutionFailed(result.error, "run() returns the result with its output instead of raising")
        return result.final_value

    def inject(self, name: str, value: Any) -> None:
        """Give the code a plain value, or a function of this process."""
        self._executor.inject(name, value)

    def reset(self) -> None:
        """Forget all variables, and begin to count steps anew."""
        self._executor.reset()

    def kill(self) -> None:
        """End what runs now; from any thread."""
        self._executor.kill()

    def close(self) -> None:
        self._executor.close()

    def __enter__(self) -> PythonExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
