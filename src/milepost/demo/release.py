"""The demonstration of a release: proven, deployed, followed by a bad one under load, which is taken back by itself."""

from __future__ import annotations

from collections.abc import Callable
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

SERVICE = Path(__file__).parent / "service"
ASKED = "/1h30m"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseDemo:
    """What came of it: the good release, the bad one, and what users saw meanwhile."""

    good: ReleaseRecord
    bad: ReleaseRecord
    requests: int
    failed: int

    @property
    def as_told(self) -> bool:
        """Whether the bad release was taken back and nobody saw it fail."""
        return (self.good.stage, self.bad.stage, self.failed) == (Stage.LIVE, Stage.ROLLED_BACK, 0)


def release_demo(folder: Path, tell: Callable[[str], None], on_event: OnEvent, on_move: Say) -> ReleaseDemo:
    """Make a service of the sample in `folder`, and deploy it twice while users ask; at the end nothing of it runs."""
    roadmap = folder / "ROADMAP.md"
    make_sample(folder, SERVICE)
    consent.agree_for_this_process(folder / SETTINGS_FILE, wanted_by(folder))  # a command, which is ours
    tell("the one task that the service needs is done and proven first")
    wish = RunRequest(roadmap=roadmap, agent=AGENT, tasks=("1.1",), approve="never")
    ended = run(wish, Caller(on_event=on_event))
    if not isinstance(ended, RunFinished) or not ended.passed:
        raise MilepostError("the task of the demo was not done", "see why: milepost proof 1.1")
    try:
        tell("\nmilepost deploy local: the files of that milepost, two instances behind two Envoys")
        good = deploy(roadmap, Wish(target="local"), lambda _: None, on_move)
        if good.stage is not Stage.LIVE:
            raise MilepostError(f"the first release is {good.stage}: {good.said}", "milepost logs local")
        port = int(good.release.reference.rpartition(":")[2])
        tell(f"\nfrom here on six users ask GET {ASKED} all the time, and somebody commits a fault")
        _commit_fault(folder)
        with Users(port, ASKED) as users:
            tell(f"milepost deploy local: {_refusal(roadmap)}")
            tell("milepost deploy local --unproven: all the same")
            bad = deploy(roadmap, Wish(target="local", unproven=True), lambda _: None, on_move)
        good = next(one for one in list_releases(roadmap, "local", "dev") if one.number == good.number)
        return ReleaseDemo(good=good, bad=bad, requests=users.count("GET"), failed=sum(users.failed("GET").values()))
    finally:
        if any(one.stage is Stage.LIVE for one in list_releases(roadmap, "local", "dev")):
            scale(roadmap, "local", "dev", 0)


def _commit_fault(folder: Path) -> None:
    """Commit a fault that only shows with traffic: each third answer fails."""
    service = folder / "answers.py"
    text = service.read_text(encoding="utf-8")
    service.write_text(text.replace("FAILING = 0\n", "FAILING = 3\n"), encoding="utf-8")
    git(folder, "commit", "--quiet", "--all", "--message", "Try something")


def _refusal(roadmap: Path) -> str:
    """What a deploy without proof is refused with."""
    try:
        deploy(roadmap, Wish(target="local"), lambda _: None, lambda _: None)
    except NotProven as error:
        return error.message
    raise MilepostError("a commit without proof was deployed", "report this")
