"""What is watched, as a person reads it, and as Prometheus does."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from milepost.cli.format_text import clipped, padded, safe
from milepost.watching import Remedy, deserves_task, figures

if TYPE_CHECKING:
    from types import TracebackType

    from prometheus_client.core import Metric
    from rich.live import Live as RichLive

    from milepost.watching import AlertMove, Incident, IncidentTask, KeptAlert, RemedyRecord, Sight

HISTORY, LOOKS_OF_ONCE = 60, 4
_BARS = "▁▂▃▄▅▆▇█"
_SHOWN = (  # the metric, its name, how it is written, and which value is a whole bar where all are less
    ("requests", "requests", "{:.0f}", 0.0),
    ("error_rate", "errors", "{:.1%}", 0.05),
    ("p99_ms", "p99", "{:.0f} ms", 0.0),
    ("cpu", "processor", "{:.0%}", 1.0),
    ("memory", "memory", "{:.0%}", 1.0),
)
_QUIET = ("well", "pending")


def sparkline(values: Sequence[float | None], width: int, whole: float = 0.0) -> str:
    """The newest values as bars, the highest of them or `whole` as a whole one; a dot where nothing was known."""
    newest = values[-width:]
    most = max((whole, *(value for value in newest if value is not None)))
    bars = [_BARS[min(7, int(8 * value / most))] if value is not None and most else "▁" for value in newest]
    return "".join("·" if value is None else bar for value, bar in zip(newest, bars, strict=True))


def worst(sight: Sight, metric: str) -> float | None:
    """What a look says of a metric, or the most that it says of any instance."""
    told = [value for name, value in sight.values.items() if name.partition("@")[0] == metric and value is not None]
    return max(told, default=None)


def is_redrawn() -> bool:
    """Whether what is printed can be put in the place of what was printed before."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def is_well(sight: Sight) -> bool:
    """Whether somebody looked, and nothing speaks against what is live."""
    situation = sight.situation
    return situation is not None and not situation.breach and not situation.deploying


def sight_lines(sights: Sequence[Sight], width: int) -> list[str]:
    """The table: series of the whole, a line an instance, alerts, what was decided."""
    now = sights[-1]
    if now.situation is None:
        return [f"{now.target} ({now.environment}): nothing is live"]
    state = "well" if is_well(now) else "not well"
    lines = [f"{now.target} ({now.environment})   release {now.release}   {state}"]
    for metric, name, form, whole in _SHOWN:
        values = [worst(one, metric) for one in sights]
        said = "no data" if values[-1] is None else form.format(values[-1])
        bars = sparkline(values, max(8, min(60, width - 32)), whole)
        lines.append(f"  {padded(name, 10)} {said:>10}   {bars}")
    for one in now.situation.instances:
        answers = "dead" if not one.alive else "no answer" if one.answers is False else "answers"
        cpu = "" if one.cpu_share is None else f"   cpu {one.cpu_share:.0%}"
        memory = "" if one.memory_share is None else f"   memory {one.memory_share:.0%}"
        lines.append(f"  {padded(one.name, 10)} {answers:>10}{cpu}{memory}")
    told = [one for one in now.alerts if one.status(now.at) not in (*_QUIET, "no data")]
    lines += [f"  {padded(one.severity.value, 8)} {safe(one.name)}   {one.status(now.at)}" for one in told]
    if now.decision is not None and not is_well(now):
        what = type(now.decision).__name__.lower()
        kind = f"{now.decision.kind} {now.decision.subject}: " if isinstance(now.decision, Remedy) else ""
        lines.append(f"  {what}   {kind}{safe(now.decision.why)}")
    lines += [f"  {safe(now.task)}"] if now.task else []
    return [clipped(line, width) for line in lines]


def news_lines(sights: Sequence[Sight]) -> list[str]:
    """What is new since the look before, a line each, where nobody sees a table."""
    now, before = sights[-1], sights[-2] if len(sights) > 1 else None
    at = time.strftime("%H:%M:%S", time.localtime(now.at))
    known = {move.seq for move in before.moves} if before else set()
    lines = [f"{at}  {move.severity}  {safe(move.name)}  {move.what}" for move in now.moves if move.seq not in known]
    was = (before.remedy.number, before.remedy.outcome) if before and before.remedy else None
    if (
        now.remedy is not None
        and (now.remedy.number, now.remedy.outcome) != was
        and (before or not now.remedy.ended_at)
    ):
        one = now.remedy
        lines.append(f"{at}  {one.kind} {safe(one.subject)}: {safe(one.why)}   {one.outcome}")
    if now.task and now.task != (before.task if before else ""):
        lines.append(f"{at}  {safe(now.task)}")
    if before is None:
        lines.insert(0, sight_lines(sights, 100)[0])
    return lines


def alert_lines(alerts: Sequence[KeptAlert], now: float, target: str, environment: str) -> list[str]:
    told = [one for one in alerts if one.status(now) not in _QUIET]
    if not told:
        return [f"no alert on {target} ({environment})"]
    return [
        f"{padded(one.severity.value, 9)} {padded(one.status(now), 13)} {_clock(one.alert.since)}   {safe(one.name)}"
        for one in told
    ]


def history_lines(moves: Iterable[AlertMove]) -> list[str]:
    lines = []
    for one in moves:
        value = "" if one.value is None else f"   {one.value:g}"
        by = f"   {safe(one.said_by)}" if one.said_by else ""
        lines.append(f"{_clock(one.at)}   {padded(one.severity.value, 9)} {safe(one.name)}   {one.what}{value}{by}")
    return lines or ["nothing happened yet"]


def incident_lines(found: Sequence[tuple[Incident, tuple[RemedyRecord, ...]]], *, whole: bool) -> list[str]:
    """A line for each, with its remedies; for one alone its whole timeline."""
    lines = []
    for one, done in found:
        ended = f"{one.ended_at - one.began_at:.0f} s" if one.ended_at else "not over"
        called = "   a person was called" if one.called else ""
        lines.append(f"incident {one.number}   release {one.release}   {_clock(one.began_at)}   {ended}{called}")
        lines += [f"  {each.kind} {safe(each.subject)}   {each.outcome}   {safe(each.why)}" for each in done]
        if one.task:
            lines.append(f"  it became task {safe(one.task)}")
        elif deserves_task(one, done):
            lines.append(f"  next   milepost incidents … --task {one.number}   makes it a task of the roadmap")
        if whole:
            lines += [f"  {_clock(at)}   {safe(said)}" for at, said in one.timeline]
    return lines or ["no incident"]


def task_lines(made: IncidentTask) -> list[str]:
    """What an incident became, and what is next."""
    was = f" (commit {made.commit[:7]})" if made.commit else ", as it was before"
    shown = f"its test is {safe(made.test)}" if made.test else f"evidence, no reproduction: see {safe(made.page)}"
    return [
        f"incident {made.incident} is task {safe(made.task)} of the roadmap{was}",
        f"  {shown}",
        f"next   milepost run --task {safe(made.task)}",
    ]


def _clock(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))


class Live:
    """A table that stays where it is, until the user interrupts."""

    _live: RichLive

    def __enter__(self) -> Live:
        from rich.live import Live as RichLive

        self._live = RichLive(auto_refresh=False)
        self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.__exit__(kind, error, trace)

    def show(self, sights: Sequence[Sight], width: int) -> None:
        from rich.text import Text

        self._live.update(Text("\n".join(sight_lines(sights, width))), refresh=True)


class Metrics:
    """The newest look, as Prometheus collects it. What nobody could tell is left out."""

    sight: Sight | None = None

    def collect(self) -> Iterator[Metric]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        families: dict[str, GaugeMetricFamily | CounterMetricFamily] = {}
        for figure in figures(self.sight) if self.sight is not None else ():
            name, labels = figure.of.name.replace(".", "_"), list(figure.facts)
            make = CounterMetricFamily if figure.of.kind == "total" else GaugeMetricFamily
            family = families.setdefault(name, make(name, figure.of.means, labels=labels))
            family.add_metric(list(figure.facts.values()), figure.value)
        yield from families.values()


def serve_metrics(port: int) -> Metrics:
    """Serve them on loopback for as long as this process lives."""
    from prometheus_client import CollectorRegistry, start_http_server

    metrics, registry = Metrics(), CollectorRegistry()
    registry.register(metrics)
    start_http_server(port, addr="127.0.0.1", registry=registry)
    return metrics
