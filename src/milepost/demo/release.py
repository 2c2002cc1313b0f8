"""The demonstration of releases: a proven one, a bad one that is taken back and becomes a task, one that mends it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from milepost.core.errors import MilepostError, NotProven
from milepost.core.events import RunFinished
from milepost.core.own_files import SETTINGS_FILE
from milepost.core.shipping import Stage
from milepost.demo import AGENT, git, make_sample
from milepost.demo.users import Users
from milepost.engine.deploys.advance import Say
from milepost.engine.deploys.deploy import Wish, deploy, list_releases, scale
from milepost.engine.project import consent
from milepost.engine.project.settings.load import wanted_by
from milepost.engine.records.releases import ReleaseRecord
from milepost.engine.records.run_request import Caller, OnEvent, RunRequest
from milepost.engine.run.start import run
from milepost.engine.watching.follow import follow
from milepost.engine.watching.incident_task import IncidentTask, task_of
from milepost.engine.watching.watcher import Sight, kept
from milepost.watch.heal.situation import RemedyOutcome

SERVICE = Path(__file__).parent / "service"
ASKED, ASKED_SELDOM = "/1h30m", "/1h30m15s"
_MOST_LOOKS = 120
_GOOD = "    return parse(text) if text else 0\n"
_FAULTY = """\
    hours, _, minutes = text.rstrip("m").partition("h")
    return 3600 * int(hours or 0) + 60 * int(minutes or 0)
"""

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseDemo:
    """What came of it: the three releases, the task that the bad one became, and what users saw meanwhile."""

    good: ReleaseRecord
    bad: ReleaseRecord
    mended: ReleaseRecord
    task: IncidentTask
    requests: int
    failed: int

    @property
    def as_told(self) -> bool:
        """Whether the bad release was taken back, shown again by a test and mended, and nobody saw it fail."""
        stages = (self.good.stage, self.bad.stage, self.mended.stage)
        return (stages, self.failed) == ((Stage.RETIRED, Stage.ROLLED_BACK, Stage.LIVE), 0) and bool(self.task.test)


def release_demo(folder: Path, tell: Tell, on_event: OnEvent, on_move: Say) -> ReleaseDemo:
    """Make a service of the sample in `folder`, and go from its roadmap to users and back; nothing of it runs on."""
    roadmap = folder / "ROADMAP.md"
    make_sample(folder, SERVICE)
    consent.agree_for_this_process(folder / SETTINGS_FILE, wanted_by(folder))  # a command, which is ours
    tell("the one task that the service needs is done and proven first")
    _do_task(roadmap, "1.1", on_event)
    try:
        tell("\nmilepost deploy local: the files of that milepost, two instances behind two Envoys")
        good = _deploy(roadmap, Wish(target="local"), on_move)
        port = int(good.release.reference.rpartition(":")[2])
        tell(f"\nfrom here on users ask GET {ASKED} all the time, and somebody commits a fault that these do not meet")
        _commit_fault(folder)
        with ExitStack() as asking:
            users = [asking.enter_context(Users(port, ASKED, users=4))]
            tell(f"milepost deploy local: {_refusal(roadmap)}")
            tell("milepost deploy local --unproven: all the same")
            bad = _deploy(roadmap, Wish(target="local", unproven=True), on_move)
            tell(f"\nmilepost watch local --heal auto, and somebody asks GET {ASKED_SELDOM}")
            users.append(asking.enter_context(Users(port, ASKED_SELDOM, users=2)))
            number = _healed(roadmap, tell)
            tell(f"\nmilepost incidents local --task {number}")
            task = task_of(roadmap, "local", "dev", number, tell)
            tell(f"incident {number} is task {task.task} of the roadmap; {task.test or 'nothing'} shows it again")
            tell(f"\nmilepost run --task {task.task}: verified by that test")
            _do_task(roadmap, task.task, on_event)
            tell("\nmilepost deploy local: proven again")
            mended = _deploy(roadmap, Wish(target="local"), on_move)
        found = {one.number: one for one in list_releases(roadmap, "local", "dev")}
        return ReleaseDemo(
            good=found[good.number],
            bad=found[bad.number],
            mended=found[mended.number],
            task=task,
            requests=sum(each.count("GET") for each in users),
            failed=sum(sum(each.failed("GET").values()) for each in users),
        )
    finally:
        if any(one.stage is Stage.LIVE for one in list_releases(roadmap, "local", "dev")):
            scale(roadmap, "local", "dev", 0)


def _do_task(roadmap: Path, task: str, on_event: OnEvent) -> None:
    wish = RunRequest(roadmap=roadmap, agent=AGENT, tasks=(task,), approve="never")
    ended = run(wish, Caller(on_event=on_event))
    if not isinstance(ended, RunFinished) or not ended.passed:
        raise MilepostError(f"task {task} of the demo was not done", f"see why: milepost proof {task}")


def _deploy(roadmap: Path, wish: Wish, on_move: Say) -> ReleaseRecord:
    record = deploy(roadmap, wish, lambda _: None, on_move)
    if record.stage is not Stage.LIVE:
        raise MilepostError(f"release {record.number} is {record.stage}: {record.said}", "milepost logs local")
    return record


def _healed(roadmap: Path, tell: Tell) -> int:
    """Watch until a remedy was judged; the number of the incident."""
    seen: list[Sight] = []

    def is_under_way(sight: Sight) -> bool:
        seen.append(sight)
        if sight.remedy is not None and (len(seen) < 2 or seen[-2].remedy != sight.remedy):
            tell(f"  {sight.remedy.kind} {sight.remedy.subject}: {sight.remedy.why}   {sight.remedy.outcome}")
        is_judged = sight.remedy is not None and sight.remedy.outcome is not RemedyOutcome.UNDER_WAY
        return not is_judged and len(seen) < _MOST_LOOKS

    follow(roadmap, "local", "dev", "auto", is_under_way)
    with kept(roadmap, "local", "dev") as (_, healing, _):
        found = healing.incidents()
    if not found:
        raise MilepostError("the fault of the demo was not noticed", "milepost alerts local --history")
    return found[0].number


def _commit_fault(folder: Path) -> None:
    """Commit a fault that only shows in requests that are seldom."""
    service = folder / "answers.py"
    text = service.read_text(encoding="utf-8")
    service.write_text(text.replace(_GOOD, _FAULTY), encoding="utf-8")
    git(folder, "commit", "--quiet", "--all", "--message", "Try something")


def _refusal(roadmap: Path) -> str:
    """What a deploy without proof is refused with."""
    try:
        deploy(roadmap, Wish(target="local"), lambda _: None, lambda _: None)
    except NotProven as error:
        return error.message
    raise MilepostError("a commit without proof was deployed", "report this")
