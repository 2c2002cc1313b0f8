"""App Service, by az: a release goes to a slot beside production, and the two are swapped."""

from __future__ import annotations

import json
import shlex

from milepost.core.errors import TargetRefused
from milepost.core.shipping import ArtifactKind, Health, Release, SecretValue, TargetSpec, VendorCommand, VendorRequest
from milepost.ship.targets.answers import ask, tell
from milepost.ship.targets.pack import Pack, command_of
from milepost.ship.targets.vendor import Facts, Steps, label, option
from milepost.ship.vendor_shell import TIMED_OUT

FACTS = Facts(
    takes=frozenset({ArtifactKind.WHEEL, ArtifactKind.NPM}),
    options={
        "resource_group": "the group that the web app is in",
        "slot": "the slot beside production (staging); slots need a plan of Standard or above",
        "subscription": "without it that of your az",
    },
    required=("resource_group",),
    packing="zip",
)
_MARK = "MILEPOST_RELEASE"
_LISTENS_S = 15.0


def az(spec: TargetSpec, *words: str, stdin: object = None, timeout_s: float = 300.0) -> VendorCommand:
    subscription = ("--subscription", option(spec, "subscription")) if option(spec, "subscription") else ()
    return VendorCommand(argv=("az", *words, *subscription, "--output", "json"), stdin=stdin, timeout_s=timeout_s)


def deploy(spec: TargetSpec, release: Release, pack: Pack) -> Steps[str]:
    """The mark is set last: a slot that has it has the whole release."""
    if label(release) in ((yield from _held(spec, slot=True)), (yield from _held(spec, slot=False))):
        return label(release)
    settings: list[dict[str, object]] = [
        _setting(_MARK, "none yet"),
        _setting("SCM_DO_BUILD_DURING_DEPLOYMENT", "true"),
        *(_setting(name, value) for name, value in spec.variables),
        *(_setting(name, SecretValue(variable=variable)) for name, variable in spec.secrets),
    ]
    yield from tell(_set(spec, settings))
    health_check = json.dumps({"healthCheckPath": spec.health_path})
    started = ("--startup-file", shlex.join(command_of(spec, release)), "--generic-configurations", health_check)
    yield from tell(az(spec, "webapp", "config", "set", *_of(spec, slot=True), *started))
    archive = ("--type", "zip", "--src-path", str(pack.archive), "--async", "false")
    yield from tell(az(spec, "webapp", "deploy", *_of(spec, slot=True), *archive, timeout_s=1800.0))
    yield from tell(_set(spec, [_setting(_MARK, label(release))]))
    return label(release)


def health(spec: TargetSpec, release: Release) -> Steps[Health]:
    """App Service says only that a slot runs; the slot itself is asked whether it is well."""
    slot = label(release) == (yield from _held(spec, slot=True))
    if not slot and label(release) != (yield from _held(spec, slot=False)):
        return Health(healthy=False, detail="it is in neither slot")
    app = yield from ask(az(spec, "webapp", "show", *_of(spec, slot=slot)))
    if (state := app.text("state")) != "Running":
        return Health(healthy=False, settled=False, detail=f"its slot is {state}")
    reply = yield VendorRequest(method="GET", url=f"https://{app.text('defaultHostName')}{spec.health_path}")
    # A slot that starts answers 503, or nothing.
    detail = f"{spec.health_path} answers {reply.code}" if reply.code else "it does not answer"
    well = 200 <= reply.code < 400
    settled = 200 <= reply.code < 500
    return Health(healthy=well, settled=settled, instances=spec.instances[0] if well else 0, detail=detail)


def switch(spec: TargetSpec, release: Release) -> Steps[None]:
    """What production had is in the slot afterwards, warm: to go back is to swap once more."""
    if label(release) == (yield from _held(spec, slot=False)):
        return
    if label(release) != (yield from _held(spec, slot=True)):
        raise TargetRefused(f"release {release.number} is in neither slot of {spec.name!r} any more", "deploy it again")
    swapped = ("--slot", _slot(spec), "--target-slot", "production")
    yield from tell(az(spec, "webapp", "deployment", "slot", "swap", *_of(spec, slot=False), *swapped, timeout_s=900.0))


def retire(spec: TargetSpec, release: Release) -> Steps[None]:
    """The next release takes its slot."""
    yield from ()


def scale(spec: TargetSpec, instances: int) -> Steps[None]:
    """Of the plan, and so of everything on it."""
    app = yield from ask(az(spec, "webapp", "show", *_of(spec, slot=False)))
    plan = app.maybe("appServicePlanId") or app.text("serverFarmId")
    yield from tell(az(spec, "appservice", "plan", "update", "--ids", plan, "--number-of-workers", str(instances)))


def restart(spec: TargetSpec) -> Steps[None]:
    yield from tell(az(spec, "webapp", "restart", *_of(spec, slot=False)))


def logs(spec: TargetSpec, release: Release, lines: int) -> Steps[str]:
    """The client follows a log without end; it is listened to for a while."""
    slot = label(release) == (yield from _held(spec, slot=True))
    reply = yield from tell(az(spec, "webapp", "log", "tail", *_of(spec, slot=slot), timeout_s=_LISTENS_S), TIMED_OUT)
    return "\n".join(reply.text.splitlines()[-lines:])


def _slot(spec: TargetSpec) -> str:
    return option(spec, "slot", "staging")


def _of(spec: TargetSpec, *, slot: bool) -> tuple[str, ...]:
    beside = ("--slot", _slot(spec)) if slot else ()
    return ("--name", spec.application, "--resource-group", option(spec, "resource_group"), *beside)


def _held(spec: TargetSpec, *, slot: bool) -> Steps[str]:
    """The release that a slot has. Only its mark is asked for: the other settings hold secrets."""
    only = ("--query", f"[?name=='{_MARK}'].value")
    found = yield from ask(az(spec, "webapp", "config", "appsettings", "list", *_of(spec, slot=slot), *only))
    return next((str(each.value) for each in found.each()), "")


def _set(spec: TargetSpec, settings: list[dict[str, object]]) -> VendorCommand:
    """From standard input. None of them sticks to its slot, so that they are swapped with the release."""
    given = ("--settings", "@-", "--query", "[].name")
    return az(spec, "webapp", "config", "appsettings", "set", *_of(spec, slot=True), *given, stdin=settings)


def _setting(name: str, value: object) -> dict[str, object]:
    return {"name": name, "value": value, "slotSetting": False}
