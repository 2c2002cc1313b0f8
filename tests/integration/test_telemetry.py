"""Who else hears a run: a collector over the loopback, and the log for machines. Neither can fail it."""

from __future__ import annotations

import gzip
import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import create_server
from typing import Any

import pytest

from milepost.core.events import AgentSaid, CheckFinished, Event, GateOpened, MilepostMade, RunFinished, ToolUsed
from milepost.core.secrets.redact import MASK, Redactor
from milepost.core.verdict import Verdict
from milepost.engine.events.log_file import LogFile
from milepost.engine.events.otel import Endpoints, endpoints, state_telemetry, telemetry
from milepost.engine.events.otel_metrics import Figure, Instrument
from milepost.engine.events.otel_spans import Spans
from milepost.engine.events.subscribers import listeners
from milepost.engine.project.settings.run import TelemetrySettings
from milepost.engine.project.settings.settings import Settings
from milepost.engine.records.check_logs import Logs
from milepost.engine.records.journal import Entry, Journal
from tests.unit.engine.report.test_report import GATE, SECRET, attempt_over, call, entries, stage, started, task_over

RUN = "7f3a"
SEED = "7f3a base 0"
FINISHED = RunFinished(
    run=RUN,
    branch="milepost/7f3a",
    tasks=(),
    cost_usd=0.5,
    duration_ms=9000,
    head="d" * 40,
    fast_forwarded="main",
    by_hand="",
)
STORY: tuple[Entry, ...] = entries(
    (100, started("1.1")),
    (101, stage("1.1", 1, "act")),
    (104, call("1.1", 1)),
    (104, AgentSaid(run=RUN, task="1.1", attempt=1, text="what I say stays here")),
    (
        105,
        ToolUsed(
            run=RUN,
            task="1.1",
            attempt=1,
            number=2,
            tool="execute",
            summary=f"curl -H {SECRET}",
            failed=True,
            duration_ms=500,
            printed="not sent",
        ),
    ),
    (106, stage("1.1", 1, "verify")),
    (
        108,
        CheckFinished(
            run=RUN, task="1.1", attempt=1, name="tests", outcome="failed", summary="1 failed", duration_ms=1500
        ),
    ),
    (109, attempt_over("1.1", 1, Verdict.FAILED, "1 failed \ud800")),
    (110, stage("1.1", 2, "act")),
    (112, attempt_over("1.1", 2, Verdict.PASSED)),
    (113, stage("1.1", 2, "land")),
    (114, MilepostMade(run=RUN, task="1.1", attempt=2, commit="d" * 40, tree="e" * 40)),
    (114, task_over("1.1", Verdict.PASSED, attempts=2)),
    (115, FINISHED),
)


class Collector:
    """A collector that keeps what it is sent; `answer` is the status it answers with."""

    def __init__(self, answer: int = 200) -> None:
        self.spans: list[Any] = []
        self.resources: list[Any] = []
        self.metrics: dict[str, Any] = {}
        self.requests = 0
        collector = self

        class Answering(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                collector.requests += 1
                if answer == 200:
                    collector.take(self.path, body)
                self.send_response(answer)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def take(self, path: str, body: bytes) -> None:
        from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        if path == "/v1/traces":
            for group in ExportTraceServiceRequest.FromString(body).resource_spans:
                self.resources.append(facts(group.resource))
                self.spans += [span for scope in group.scope_spans for span in scope.spans]
        if path == "/v1/metrics":
            for measured in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                self.metrics |= {metric.name: metric for scope in measured.scope_metrics for metric in scope.metrics}

    def span(self, name: str) -> Any:
        (found,) = [span for span in self.spans if span.name == name]
        return found


@contextmanager
def collecting(answer: int = 200) -> Iterator[Collector]:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="the extra `telemetry` is not installed")
    collector = Collector(answer)
    thread = threading.Thread(target=collector.server.serve_forever)
    thread.start()
    try:
        yield collector
    finally:
        collector.server.shutdown()
        collector.server.server_close()
        thread.join()


def facts(thing: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in thing.attributes}


def send(url: str, *told: Entry, so_far: tuple[Entry, ...] = (), redact: Redactor | None = None) -> None:
    """One life of a run, which heard `so_far` in earlier ones."""
    where = endpoints({}, url)
    with telemetry(where, SEED, so_far, redact or Redactor()) as heard:
        assert heard is not None
        for entry in told:
            heard.tell(entry.event, entry.at)


def test_a_run_arrives_as_one_tree_of_spans_by_the_conventions() -> None:
    with collecting() as collector:
        send(collector.url, *STORY)
    names = {span.span_id: span.name for span in collector.spans}
    parents = {span.name: names.get(span.parent_span_id, "") for span in collector.spans}
    assert parents["run"] == ""
    assert parents["task"] == "run"
    assert parents["chat gpt-5"] == parents["execute_tool execute"] == "invoke_agent command"
    assert parents["verify"] == "attempt" and parents["check tests"] == "verify"
    assert parents["land"] == "task", "the attempt was over when it landed"
    assert [span.name for span in collector.spans].count("attempt") == 2
    assert len({span.trace_id for span in collector.spans}) == 1
    chat = collector.span("chat gpt-5")
    told = facts(chat)
    assert told["gen_ai.operation.name"] == "chat"
    assert (told["gen_ai.provider.name"], told["gen_ai.request.model"]) == ("openai", "gpt-5")
    assert (told["gen_ai.usage.input_tokens"], told["gen_ai.usage.output_tokens"]) == (100, 10)
    assert chat.end_time_unix_nano - chat.start_time_unix_nano == 300_000_000
    run = collector.span("run")
    assert (run.start_time_unix_nano, run.end_time_unix_nano) == (100 * 10**9, 115 * 10**9)
    failed = next(span for span in collector.spans if span.name == "attempt" and span.status.code == 2)
    assert failed.status.message == "1 failed \\ud800", "bytes that are no text lose no span"
    assert [event.name for event in collector.span("task").events] == ["milepost_made"]
    assert collector.resources[0]["service.name"] == "milepost"


def test_what_agents_say_and_secrets_are_not_sent() -> None:
    with collecting() as collector:
        send(collector.url, *STORY)
    everything = "".join(map(str, collector.spans))
    assert "stays here" not in everything and "not sent" not in everything
    assert SECRET not in everything and MASK in everything


def test_metrics_count_tasks_tokens_cost_and_durations_once() -> None:
    again = attempt_over("1.1", 1, Verdict.PASSED)  # its evidence was corrected: it is the same attempt
    with collecting() as collector:
        send(collector.url, *STORY, Entry(seq=99, at=116, event=again))
    points = {
        name: metric.sum.data_points or metric.histogram.data_points for name, metric in collector.metrics.items()
    }
    ((tasks,), attempts) = points["milepost.tasks"], points["milepost.attempts"]
    assert (tasks.as_double or tasks.as_int, facts(tasks)["milepost.verdict"]) == (1, "passed")
    assert sum(point.as_double or point.as_int for point in attempts) == 2
    assert sum(point.as_double for point in points["milepost.cost"]) == pytest.approx(1.0)
    tokens = {facts(point)["gen_ai.token.type"]: point.sum for point in points["gen_ai.client.token.usage"]}
    assert tokens == {"input": 100, "output": 10}
    assert points["milepost.task.duration"][0].sum == pytest.approx(2.0)


def test_a_state_is_sent_as_it_is_now_and_what_is_not_known_any_more_is_not_sent() -> None:
    gauge = Instrument(name="milepost.cpu", unit="", kind="state", means="Share of a processor.")
    total = Instrument(name="milepost.remedies", unit="", kind="total", means="Remedies.")
    with collecting() as collector:
        with state_telemetry(endpoints({}, collector.url), Redactor([SECRET])) as heard:
            assert heard is not None
            heard.tell(Figure(of=gauge, value=0.9, facts={"subject": one}) for one in ("1.0", "1.1"))
            now = [
                Figure(of=gauge, value=0.2, facts={"subject": f"1.1 {SECRET}"}),
                Figure(of=total, value=3, facts={"kind": "roll back"}),
            ]
            heard.tell(now)
        points = {
            name: metric.gauge.data_points or metric.sum.data_points for name, metric in collector.metrics.items()
        }
    ((cpu,), (remedies,)) = points["milepost.cpu"], points["milepost.remedies"]
    assert (cpu.as_double, facts(cpu)) == (0.2, {"subject": f"1.1 {MASK}"})
    assert remedies.as_double or remedies.as_int == 3
    assert collector.metrics["milepost.remedies"].sum.is_monotonic


@pytest.mark.parametrize("lived", range(1, len(STORY)))
def test_a_run_that_was_killed_ends_what_it_began(lived: int) -> None:
    """Wherever it was killed, two lives give the spans of one, each once, with the same identity."""
    one, first, second = Spans(), Spans(), Spans()
    whole = [span for entry in STORY for span in one.hear(entry.event, entry.at)]
    sent = [span for entry in STORY[:lived] for span in first.hear(entry.event, entry.at)]
    for entry in STORY[:lived]:
        second.hear(entry.event, entry.at)
    sent += [span for entry in STORY[lived:] for span in second.hear(entry.event, entry.at)]
    assert sent == whole
    assert len({span.key for span in whole}) == len(whole)


def test_work_that_is_proven_again_is_another_span() -> None:
    heard = Spans()
    check = CheckFinished(
        run=RUN, task="1.1", attempt=1, name="original tests", outcome="passed", summary="", duration_ms=1
    )
    told: list[Event] = [stage("1.1", 1, "act"), stage("1.1", 1, "verify"), check, check]
    told += [attempt_over("1.1", 1, Verdict.PASSED), stage("1.1", 1, "verify"), check]
    told += [task_over("1.1", Verdict.PASSED)]
    spans = [span for at, event in enumerate(told) for span in heard.hear(event, at)]
    assert len({span.key for span in spans}) == len(spans)
    parents = {span.key: span.parent for span in spans}
    first, second = (key for key in parents if "verify" in key.rpartition("/")[2])
    assert (parents[first], parents[second]) == ("task/1.1/1", "task/1.1")
    assert sorted(parents[span.key] for span in spans if span.name.startswith("check")) == [first, first, second]


def test_a_machine_that_heard_only_the_ends_sends_spans_of_the_stated_length() -> None:
    heard = Spans()
    spans = {span.name: span for entry in STORY[-2:] for span in heard.hear(entry.event, entry.at)}
    assert (spans["task"].began, spans["task"].ended) == (112, 114)
    assert (spans["run"].began, spans["run"].ended) == (106, 115)


def test_a_collector_that_is_away_costs_one_warning_and_not_the_run(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
    monkeypatch.setattr("milepost.engine.events.otel.SEND_TIMEOUT_S", 0.5)
    with closing(create_server(("127.0.0.1", 0))) as nobody:
        url = f"http://ada:hunter2hunter2@127.0.0.1:{nobody.getsockname()[1]}"
    with caplog.at_level(logging.WARNING, "milepost"):
        send(url, *STORY)
    warnings = [record.getMessage() for record in caplog.records if record.name.startswith("milepost")]
    assert len(warnings) == 1
    assert "rejects it" in warnings[0] and "hunter2" not in warnings[0]


def test_a_collector_that_refuses_is_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    with collecting(answer=400) as collector, caplog.at_level(logging.WARNING, "milepost"):
        send(collector.url, *STORY)
    assert collector.requests == 1, "neither spans nor metrics are tried again at once"
    assert sum(record.name.startswith("milepost") for record in caplog.records) == 1


@pytest.mark.parametrize("url", ["not an address", "http://", "http://[::1", "ftp://127.0.0.1/x"])
def test_an_endpoint_that_is_none_costs_one_warning(url: str, caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
    with (
        caplog.at_level(logging.WARNING, "milepost"),
        telemetry(Endpoints(traces=url, metrics=url), SEED, (), Redactor()) as heard,
    ):
        for entry in STORY:
            if heard is not None:
                heard.tell(entry.event, entry.at)
    assert sum(record.name.startswith("milepost") for record in caplog.records) == 1


@pytest.mark.parametrize(
    ("environ", "setting", "traces", "metrics"),
    [
        ({}, "", "", ""),
        ({}, "http://c:4318", "http://c:4318/v1/traces", "http://c:4318/v1/metrics"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://e/"}, "http://c", "http://e/v1/traces", "http://e/v1/metrics"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://t/x"}, "", "http://t/x", ""),
        ({"OTEL_METRICS_EXPORTER": "none"}, "http://c", "http://c/v1/traces", ""),
        ({"OTEL_SDK_DISABLED": "TRUE", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://e"}, "http://c", "", ""),
    ],
)
def test_the_environment_says_where_before_the_settings(
    environ: dict[str, str], setting: str, traces: str, metrics: str
) -> None:
    assert endpoints(environ, setting) == Endpoints(traces=traces, metrics=metrics)


def test_nothing_of_opentelemetry_is_imported_unless_it_is_configured(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from milepost.core.secrets.redact import Redactor\n"
        "from milepost.engine.records.journal import Journal\n"
        "from milepost.engine.events.subscribers import listeners\n"
        "from milepost.engine.project.settings.settings import Settings; from milepost.core.events import RunStopping\n"
        "with Journal(Path('j.db')) as journal:\n"
        " with listeners(Settings(), 'ab', journal=journal, state=Path('.'), redact=Redactor()) as tell:\n"
        "  tell(RunStopping(run='ab', at_once=False))\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry')])\n"
    )
    environ = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
    assert json.loads((tmp_path / "logs/ab.jsonl").read_text())["event"] == "run_stopping"


def test_the_listeners_of_two_lives_share_a_trace_that_other_runs_do_not(tmp_path: Path) -> None:
    settings = Settings()
    with collecting() as collector, Journal(tmp_path / "milepost.db") as journal:
        settings = settings.model_copy(update={"telemetry": TelemetrySettings(endpoint=collector.url)})
        for run in (RUN, "beef"):
            journal.open_run(run, "3", {"base": "b" * 40})
        for number, entry in enumerate(STORY):
            event: Event = replace(entry.event)
            with listeners(settings, RUN, journal=journal, state=tmp_path, redact=Redactor(), environ={}) as tell:
                tell(event)
            journal.append(event, str(number))
        with listeners(settings, "beef", journal=journal, state=tmp_path, redact=Redactor(), environ={}) as tell:
            tell(replace(FINISHED, run="beef"))
    traces = {span.trace_id for span in collector.spans}
    assert len(traces) == 2
    assert sum(span.name == "run" for span in collector.spans) == 2
    lines = [json.loads(line) for line in (tmp_path / f"logs/{RUN}.jsonl").read_text().splitlines()]
    assert [line["event"] for line in lines] == [entry.event.event for entry in STORY]


# The log


def test_every_event_is_a_line_with_time_level_and_no_secret(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "logs", RUN, Redactor([SECRET]))
    for entry in STORY:
        log.tell(entry.event, entry.at)
    text = (tmp_path / "logs/7f3a.jsonl").read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["event"] for line in lines] == [entry.event.event for entry in STORY]
    assert lines[0]["time"] == "1970-01-01T00:01:40.000Z"
    assert {line["level"] for line in lines} == {"debug", "info", "warning"}
    assert SECRET not in text and MASK in text


def test_a_full_log_becomes_the_older_one_and_no_line_is_cut(tmp_path: Path) -> None:
    log = LogFile(tmp_path, RUN, Redactor(), most_bytes=2000)
    for number in range(100):
        log.tell(AgentSaid(run=RUN, task="1.1", attempt=1, text=f"line {number}"), 0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["7f3a.1.jsonl", "7f3a.jsonl"]
    assert all(path.stat().st_size <= 2000 for path in tmp_path.iterdir())
    text = (tmp_path / "7f3a.1.jsonl").read_text() + (tmp_path / "7f3a.jsonl").read_text()
    kept = [json.loads(line)["text"] for line in text.splitlines()]
    assert kept == [f"line {number}" for number in range(100 - len(kept), 100)]


def test_a_line_that_a_crash_cut_short_harms_no_other(tmp_path: Path) -> None:
    (tmp_path / "7f3a.jsonl").write_text('{"event": "cut sho')
    log = LogFile(tmp_path, RUN, Redactor())
    log.tell(FINISHED, 0)
    cut, whole = (tmp_path / "7f3a.jsonl").read_text().splitlines()
    assert cut == '{"event": "cut sho'
    assert json.loads(whole)["event"] == "run_finished"


def test_a_long_text_is_cut_in_the_log(tmp_path: Path) -> None:
    log = LogFile(tmp_path, RUN, Redactor())
    gate: GateOpened = replace(GATE, shown="x" * 3_000_000)
    log.tell(gate, 0)
    (line,) = (tmp_path / "7f3a.jsonl").read_text().splitlines()
    assert len(line) < 30_000
    assert json.loads(line)["shown"].endswith("… (3000000 characters)")


def test_a_log_that_cannot_be_written_costs_one_warning_and_not_the_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "logs").write_text("in the way")
    log = LogFile(tmp_path / "logs", RUN, Redactor())
    with caplog.at_level(logging.WARNING, "milepost"):
        for entry in STORY:
            log.tell(entry.event, entry.at)
    assert len(caplog.records) == 1


def test_sweeping_the_logs_of_checks_leaves_the_log_of_a_run(tmp_path: Path) -> None:
    logs = Logs(tmp_path / "logs")
    LogFile(tmp_path / "logs", RUN, Redactor()).tell(FINISHED, 0)
    logs.keep("what a check printed")
    (tmp_path / "logs/0123.77-42").write_text("half of a log")
    logs.sweep()
    assert {path.suffix for path in (tmp_path / "logs").iterdir()} == {".gz", ".jsonl"}
