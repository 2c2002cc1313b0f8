"""What the settings may say of a network, and what that means."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, TypeAdapter, ValidationError

from milepost.core.commands import NO_NETWORK, OPEN_NETWORK, OWN_LOOPBACK, Network
from milepost.core.errors import SettingInvalid
from milepost.sandbox.egress.allow_list import allow_list

_Named = Literal["none", "loopback", "open"]


def _hosts_in_text(given: Any) -> Any:
    """A text that is no name is a list of hosts, as a flag or a variable gives it."""
    is_list = isinstance(given, str) and given not in get_args(_Named)
    return [host.strip() for host in given.split(",")] if is_list else given


def _hosts_can_be_read(given: _Named | list[str]) -> _Named | list[str]:
    try:
        allow_list(tuple(given) if isinstance(given, list) else ())
    except SettingInvalid as error:
        raise ValueError(f"cannot be used: {error.message}: {error.advice}") from error
    return given


NetworkSetting = Annotated[_Named | list[str], BeforeValidator(_hosts_in_text), AfterValidator(_hosts_can_be_read)]
_SETTING: TypeAdapter[_Named | list[str]] = TypeAdapter(NetworkSetting)


def network_named(text: str) -> Network:
    """The network that a flag gives: none, loopback, open, or hosts with commas between them."""
    try:
        return network_of(_SETTING.validate_python(text))
    except ValidationError as error:
        raise SettingInvalid(f"--network {error.errors()[0]['msg']}", "name none, loopback, open, or hosts") from error


def as_text(setting: NetworkSetting) -> str:
    """A setting as a flag gives it."""
    return setting if isinstance(setting, str) else ",".join(setting)


def network_of(setting: NetworkSetting) -> Network:
    """The network that a setting means; a list without hosts is the loopback alone."""
    match setting:
        case "none":
            return NO_NETWORK
        case "loopback":
            return OWN_LOOPBACK
        case "open":
            return OPEN_NETWORK
        case hosts:
            return Network(mode="hosts", hosts=tuple(hosts)) if hosts else OWN_LOOPBACK
