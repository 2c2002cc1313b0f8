"""The commands: each translates its words, makes one call of the library, and translates the answer."""

from __future__ import annotations

import atexit
import gc
import io
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import milepost
import milepost.roadmaps
from milepost import benchmarks, errors, machines, plans, proofs, runs
from milepost.cli import (
    adopt,
    chaos,
    clean,
    completion,
    context,
    costs,
    deploy,
    execute,
    gates,
    history,
    mcp,
    memory,
    package,
    patterns,
    projects,
    replay,
    report,
    run,
    service,
    settings,
    sh,
    start,
    steer,
    together,
    watch,
    web,
    worker,
)
from milepost.cli import roadmap as roadmaps
from milepost.cli.arguments import Dialect, Graph, Group, Json, Order, Roadmap, RoadmapOption, TaskId
from milepost.cli.exit_codes import DONE, INTERRUPTED, MISUSED, NOT_DONE
from milepost.cli.help import arrange, named_alone
from milepost.cli.named_roadmap import proposed
from milepost.cli.output import print_json, print_lines, terminal_width
from milepost.cli.worker import Database

if TYPE_CHECKING:
    from rich.console import Console

app = typer.Typer(
    name="milepost",
    help="Turn a ROADMAP.md into verified commits.",
    epilog="See it work: milepost demo. In your own repository: milepost init, plan, run. More: milepost run --help.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def main() -> None:
    """The program: an error is one line and what to do about it, unless --debug asks for more."""
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)  # what follows belongs to another program
    debug = "--debug" in sys.argv[:end]
    if settings.YES_OPTION in sys.argv[:end]:
        os.environ[settings.YES_VARIABLE] = "1"  # also for the processes that this one starts
    ours = ("--debug", settings.YES_OPTION)
    sys.argv = [word for word in sys.argv[:end] if word not in ours] + sys.argv[end:]
    signal.signal(signal.SIGTERM, _interrupt)
    _collect_seldom()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a sign is no reason to fail
    try:
        _run_command()
    except milepost.MilepostError as error:
        if debug:
            raise
        _complain(error.message, proposed(error.advice))
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        for stream in (sys.stdout, sys.stderr):  # what is still to be flushed goes nowhere, without complaint
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        sys.exit(NOT_DONE)
    except OSError as error:
        if debug:
            raise
        where = f"{error.filename!r}: " if error.filename else ""
        _complain(f"{where}{error.strerror or error}", "run again with --debug to see where")
        sys.exit(NOT_DONE)
    except Exception as error:
        if debug:
            raise
        _complain(f"bug in milepost: {type(error).__name__}: {error}", "run again with --debug and report it")
        sys.exit(NOT_DONE)


def _run_command() -> None:
    """Do what the command line says; where settings wait for an agreement, ask for it first."""
    if completion.VARIABLE in os.environ:
        completion.answer(app)
    try:
        named_alone(app, sys.argv[1:])(standalone_mode=True)
    except errors.SettingsNotAgreed as error:
        if not (sys.stdin.isatty() and sys.stderr.isatty() and settings.is_agreed((error.question,))):
            raise
        error.question.agree()
        _run_command()


@app.callback(invoke_without_command=True)
def _top(
    version: Annotated[bool, typer.Option("--version", help="Print the version and the installed extras.")] = False,
) -> None:
    if version:
        from milepost.cli.show.version import version_lines

        print_lines("\n".join(version_lines(milepost.__version__)))
        raise typer.Exit(DONE)


@app.command()
def demo(
    folder: Annotated[
        Path | None, typer.Argument(help="An empty folder for the sample. Default: a new temporary one.")
    ] = None,
    on_web: Annotated[bool, typer.Option("--web", help="Also show it in the browser, until Ctrl-C.")] = False,
    no_open: web.NoOpen = False,
    ship: Annotated[
        bool, typer.Option("--ship", help="Deploy the sample here; a bad release is taken back, and mended.")
    ] = False,
) -> None:
    """Try Milepost on a sample repository; needs no API key and no network."""
    from milepost.cli.show import demo as show_demo
    from milepost.cli.show import demo_ship

    if ship:
        if on_web:
            raise milepost.Misuse("--ship cannot be combined with --web", "use one of them")
        raise typer.Exit(demo_ship.tell(folder, _stderr()))
    if on_web:
        raise typer.Exit(web.demonstrate(folder, _stderr(), opens=not no_open))
    raise typer.Exit(show_demo.tell(folder, _stderr()))


@app.command()
def init(
    folder: Annotated[Path | None, typer.Argument(help="A folder in the repository. Default: this one.")] = None,
    prompt: Annotated[
        str | None,
        typer.Option("--from", metavar="TEXT", help="What the roadmap should cover; a model writes the tasks."),
    ] = None,
    template: roadmaps.TemplateName = "",
    style: roadmaps.Style = "standard",
    model: roadmaps.Model = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Accept the proposed settings without a question.")] = False,
    tests: Annotated[bool, typer.Option("--tests/--no-tests", help="Run the project's tests once.")] = True,
) -> None:
    """Set up a repository: look at it, create a roadmap and settings if there are none, run its tests once."""
    from milepost.cli.show.init import base_lines, fact_lines, init_lines
    from milepost.cli.under_way import told_on_stderr

    found, proposed, agent = machines.facts(folder), machines.proposals(folder), None
    looked_at = "\n".join(fact_lines(found, terminal_width()))
    asks = not yes and sys.stdin.isatty() and sys.stderr.isatty()
    if asks:
        print_lines(looked_at, err=True)
        if len(found.agents) > 1:
            agent = _chosen_agent(found.agents)
        if proposed:
            print_lines("\n".join(f"  {said}" for said in proposed), err=True)
            yes = typer.confirm("Set this in milepost.toml?", default=False, err=True)
    made = milepost.init(
        folder, prompt=prompt, template=template, style=style, model=model, say=roadmaps.tell, accept=yes, agent=agent
    )
    lines = init_lines(made, Path.cwd(), proposed, accepted=yes)
    before_tests = len(made) + len(proposed) if made else 0
    told = lines[: len(made)], [] if asks else [looked_at], lines[len(made) : before_tests]
    print_lines("\n".join(line for part in told for line in part))
    if made and tests and found.suites:
        with told_on_stderr():
            standing = machines.base_tests(folder)
        print_lines("\n".join(base_lines(standing, terminal_width())))
    print_lines("\n".join(lines[before_tests:]))


def _chosen_agent(agents: tuple[str, ...]) -> str:
    """Whom a person names of those that can work here."""
    while True:
        said: str = typer.prompt(f"Which agent: {', '.join(agents)}?", default=agents[0], err=True)
        if said in agents:
            return said


@app.command()
def doctor(as_json: Json = False) -> None:
    """Check what works on this machine and what is missing."""
    from milepost.cli.show.doctor import doctor_lines, finding_to_json

    findings = machines.doctor()
    if as_json:
        print_json([finding_to_json(finding) for finding in findings])
    else:
        print_lines("\n".join(doctor_lines(findings, terminal_width())))
    raise typer.Exit(NOT_DONE if any(finding.needed and not finding.ok for finding in findings) else DONE)


@app.command()
def plan(
    roadmap: Roadmap = None,
    workspace: projects.Workspace = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show why each line was read as a task or not, instead of the plan.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 for any problem, not only fatal ones.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="List every problem, even many of the same kind.")] = False,
    propose: Annotated[
        bool, typer.Option("--propose", help="Show how to split tasks that are too big, instead of the plan.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Run the Verify lines of open tasks now, and show which prove nothing.")
    ] = False,
    graph: Annotated[Graph | None, typer.Option(help="Print the plan as a graph in this format, instead.")] = None,
    order: Order = None,
    group: Group = None,
    dialect: Dialect = None,
    as_json: Json = False,
) -> None:
    """Show the tasks, their order, and problems to fix before you spend money."""
    if (folder := projects.folder_of(roadmap, asked=workspace)) is not None:
        projects.plan_all(folder, as_json)
    from milepost.cli.format_text import from_here
    from milepost.cli.show import plan as show
    from milepost.cli.show.explain import explain_lines, explain_to_json
    from milepost.cli.show.renamed import renamed_lines, renamed_tasks, renamed_to_json

    made = milepost.plan(roadmap, order=order, group=group, dialect=dialect)
    name = from_here(milepost.roadmaps.find(roadmap))
    if graph is not None:
        print_lines(plans.to_graph(made, graph))
    elif propose and not as_json:
        print_lines("\n".join(show.proposal_lines(plans.proposals(made), terminal_width())))
    elif explain and not as_json:
        print_lines(
            "\n".join(explain_lines(milepost.roadmaps.explain(roadmap, dialect=dialect), made, name, terminal_width()))
        )
    else:
        checkable = check and not any(problem.fatal for problem in made.problems)
        checked = plans.check(roadmap, made, on_line=_tell_check) if checkable else None if check else ()
        forecast, choices, renamed = show.foretold(roadmap, made), show.chosen(roadmap, made), renamed_tasks(roadmap)
        if as_json:
            more = explain_to_json(milepost.roadmaps.explain(roadmap, dialect=dialect)) if explain else {}
            more |= show.checked_to_json(checked or ()) if check else {}
            print_json(show.plan_to_json(made, forecast, choices) | renamed_to_json(renamed) | more)
        else:
            lines = show.plan_lines(
                made,
                name,
                terminal_width(),
                forecast,
                choices,
                everything=everything,
                strict=strict,
                agent=plans.agent_to_name(roadmap, made),
            )
            found = show.checked_lines(checked, terminal_width())
            print_lines("\n".join([*renamed_lines(renamed, terminal_width()), *lines[:-1], *found, *lines[-1:]]))
    raise typer.Exit(NOT_DONE if any(problem.fatal or strict for problem in made.problems) else DONE)


def _tell_check(line: str) -> None:
    from milepost.cli.format_text import safe

    print_lines(safe(f"checking `{line}`"), err=True)


run.register(app)


@app.command()
def status(roadmap: Roadmap = None, database: Database = None, as_json: Json = False) -> None:
    """Show the latest run: what is done and what is running."""
    from milepost.cli.show.status import status_lines, status_to_json

    found = milepost.status(roadmap, database=database)
    if as_json:
        print_json(status_to_json(found))
    else:
        print_lines("\n".join(status_lines(found, terminal_width())))


@app.command()
def stop(
    roadmap: Roadmap = None,
    now: Annotated[bool, typer.Option("--now", help="Stop now, without waiting for the running steps.")] = False,
    after_task: Annotated[bool, typer.Option("--after-task", help="Stop when the running tasks are finished.")] = False,
    database: Database = None,
) -> None:
    """Stop the current run. You can resume it at any time."""
    if after_task and now:
        _complain("--now and --after-task exclude each other", "use one of them")
        raise typer.Exit(MISUSED)
    if after_task:
        print_lines(
            f"run {milepost.steer('finish', roadmap, database=database)} stops when the running tasks are finished"
        )
        return
    stopped = milepost.stop(roadmap, at_once=now, database=database)
    if stopped is None:
        print_lines("nothing to stop: no run in progress here")
    else:
        print_lines(proposed(f"stopped run {stopped} · resume it at any time:   milepost resume"))


@app.command()
def proof(
    task: TaskId,
    roadmap: RoadmapOption = None,
    logs: Annotated[bool, typer.Option("--log", help="Print the full output of each check instead.")] = False,
    as_json: Json = False,
) -> None:
    """Show the checks that prove a task is done, or why it was not accepted."""
    from milepost.cli.show.proof import log_lines, proof_lines

    if logs:
        kept = proofs.logs(task, roadmap)
        if as_json:
            print_json([{"check": name, "log": text} for name, text in kept])
        else:
            print_lines("\n".join(log_lines(kept)))
        return
    found = milepost.proof(task, roadmap)
    if as_json:
        print_json(proofs.to_json(found))
    else:
        print_lines("\n".join(proof_lines(found, terminal_width())))


@app.command()
def verify(
    task: Annotated[str | None, typer.Argument(metavar="TASK", help="Also run the checks of this task.")] = None,
    again: Annotated[
        bool, typer.Option("--replay", help="Check the task's milepost again and compare the results.")
    ] = False,
    roadmap: RoadmapOption = None,
    as_json: Json = False,
) -> None:
    """Run the checks on your files as they are now, or check an earlier milepost again."""
    from milepost.cli.show import verify as show
    from milepost.cli.under_way import told_on_stderr

    if again and task is None:
        _complain("--replay needs the task whose milepost to check again", "milepost log lists them")
        raise typer.Exit(MISUSED)
    if again and task is not None:
        proven = proofs.replay(task, roadmap)
        if as_json:
            print_json(show.replayed_to_json(proven))
        else:
            print_lines("\n".join(show.replayed_lines(proven, terminal_width())))
        raise typer.Exit(DONE if proven.same else NOT_DONE)
    with told_on_stderr():
        found = milepost.verify(task, roadmap)
    if as_json:
        print_json(show.verified_to_json(found))
    else:
        print_lines("\n".join(show.verified_lines(found, terminal_width())))
    evidence = found.evidence
    passed = evidence.verdict == "passed" or (task is None and bool(evidence.checks) and evidence.verdict != "failed")
    raise typer.Exit(DONE if passed else NOT_DONE)


@app.command()
def failures(roadmap: Roadmap = None, as_json: Json = False) -> None:
    """Show the most frequent failures here, and what fixed them."""
    from milepost.cli.show.failures import failure_lines, failure_to_json

    found = runs.failures(roadmap)
    if as_json:
        print_json([failure_to_json(one) for one in found])
    else:
        print_lines("\n".join(failure_lines(found, terminal_width())))


@app.command()
def bench(
    agent: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="The agent, as for run; also reference (has the solutions) and null (does nothing)."
        ),
    ],
    task: Annotated[list[str] | None, typer.Option(metavar="ID", help="Only this task; can be repeated.")] = None,
    as_json: Json = False,
) -> None:
    """Test an agent on twenty small tasks, with checks it never sees."""
    from milepost.cli.show.bench import bench_lines, result_line

    def tell(result: benchmarks.TaskReport) -> None:
        print_lines(result_line(result, terminal_width()), err=True)

    report = benchmarks.run(agent, tasks=tuple(task or ()), on_result=tell)
    if as_json:
        print_json(benchmarks.to_json(report))
    else:
        print_lines("\n".join(bench_lines(benchmarks.rows(report), terminal_width())))
    raise typer.Exit(DONE if report.tasks and report.successes == len(report.tasks) else NOT_DONE)


def _collect_seldom() -> None:
    """A fifth of a start is else spent looking for garbage among what was just imported, and again at the end."""
    gc.set_threshold(100_000, 50, 50)
    atexit.register(gc.freeze)


def _interrupt(_: int, __: object) -> None:
    raise runs.Terminated


def _complain(message: str, advice: str) -> None:
    from milepost.cli.format_text import safe

    print(f"error: {safe(message)}", file=sys.stderr)  # noqa: T201
    if advice:
        print(f"  {safe(advice)}", file=sys.stderr)  # noqa: T201


def _stderr() -> Console:
    from rich.console import Console

    return Console(stderr=True)


chaos.register(app)
steer.register(app)
replay.register(app)
patterns.register(app)
projects.register(app)
context.register(app)
report.register(app)
sh.register(app)
start.register(app)
execute.register(app)
mcp.register(app)
web.register(app)
worker.register(app)
clean.register(app)
completion.register(app)
adopt.register(app)
costs.register(app)
deploy.register(app)
watch.register(app)
gates.register(app)
history.register(app)
memory.register(app)
package.register(app)
together.register(app)
roadmaps.register(app)
service.register(app)
settings.register(app)
arrange(app)
