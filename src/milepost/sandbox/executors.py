"""The way to an executor: by the language of the code, and by how far it is trusted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, assert_never, get_args

from milepost.core.commands import NO_NETWORK, ExecutionLimits, Network, TrustLevel, trust_named
from milepost.core.errors import SettingInvalid
from milepost.sandbox import levels
from milepost.sandbox.container.commands import Container, container_named
from milepost.sandbox.typescript.source import Lang as Scripted

if TYPE_CHECKING:
    from milepost.sandbox.executor import WalledExecutor
    from milepost.sandbox.local_executor import LocalExecutor
    from milepost.sandbox.typescript.executor import TypeScriptExecutor

_SCRIPTED: tuple[Scripted, ...] = get_args(Scripted)
LANGUAGES = ("python", *_SCRIPTED)


def holder_named(trust: str | None, container: str | None, image: str | None) -> TrustLevel | Container:
    """What is to hold code by these names: a level, or containers; without any, the strongest level held here."""
    found = container_named(container or "", image or "")
    if found is None:
        return trust_named(trust) if trust else levels.strongest()
    if trust:
        raise SettingInvalid(f"code runs either in {found} or at a trust level, not both", "leave one of them out")
    return found


def open_executor(
    trust: TrustLevel | Container,
    limits: ExecutionLimits | None = None,
    *,
    lang: str = "python",
    workspace: Path | None = None,
    network: Network = NO_NETWORK,
) -> LocalExecutor | WalledExecutor | TypeScriptExecutor:
    """An executor for this language at exactly this level, or in containers; refuses rather than offer another."""
    if isinstance(trust, Container):
        return _open_in_containers(trust, limits, lang, workspace, network)
    for scripted in _SCRIPTED:
        if lang == scripted:
            _require_none(network, f"code in {lang!r} has no network")
            return _open_scripted(trust, limits, scripted, workspace)
    if lang != "python":
        raise SettingInvalid(f"code in {lang!r} cannot be run", f"the languages are {', '.join(LANGUAGES)}")
    match trust:
        case TrustLevel.LOCAL:
            from milepost.sandbox.local_executor import LocalExecutor

            levels.require(trust)
            _require_no(workspace, "trust level 'local' has no files")
            _require_none(network, "trust level 'local' has no network")
            return LocalExecutor(limits)
        case TrustLevel.ISOLATED | TrustLevel.SANDBOXED:
            return levels.open_executor(trust, limits, workspace=workspace, network=network)
        case _ as never:
            assert_never(never)


def _open_in_containers(
    container: Container, limits: ExecutionLimits | None, lang: str, workspace: Path | None, network: Network
) -> WalledExecutor:
    from milepost.sandbox.container import open_container

    if lang != "python":
        raise SettingInvalid(f"code in {lang!r} cannot be run in containers", "use trust level 'isolated'")
    return open_container.open_executor(container, limits, workspace=workspace, network=network)


def _open_scripted(
    trust: TrustLevel, limits: ExecutionLimits | None, lang: Scripted, workspace: Path | None
) -> TypeScriptExecutor:
    from milepost.sandbox.typescript.executor import TypeScriptExecutor

    if trust is TrustLevel.LOCAL:
        raise SettingInvalid(f"code in {lang!r} cannot be run at trust level 'local'", "use trust level 'isolated'")
    _require_no(workspace, f"code in {lang!r} has no files")
    levels.require(trust)
    return TypeScriptExecutor(limits, lang=lang, trust=trust)


def _require_no(workspace: Path | None, why: str) -> None:
    if workspace is not None:
        raise SettingInvalid(f"{why}: it cannot use {str(workspace)!r}", "leave the workspace out")


def _require_none(network: Network, why: str) -> None:
    if network != NO_NETWORK:
        raise SettingInvalid(f"{why}: it cannot use {network.mode!r}", "leave the network out")
