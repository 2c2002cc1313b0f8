"""What can go wrong, as one tree.

MilepostError                 one line saying what is wrong, one saying what to do
├── Misuse                    asked for in a way that cannot be answered (exit 2)
│   ├── NoRepository          the folder is in no git repository
│   ├── NoCommits             the repository has no commit to start from
│   ├── RoadmapMissing        there is no roadmap where one was looked for
│   ├── RoadmapUnreadable     the roadmap is binary, not UTF-8, or may not be read
│   ├── ManuscriptMisread     a new roadmap would be read as something else than it is to say
│   ├── EditRefused           a task cannot be written so: it would be another, or others would change
│   ├── FileInTheWay          what is to be written would replace a file of the user's
│   ├── RoadmapGuessed        the roadmap has no boxes, and nobody said how it is to be read
│   ├── RoadmapNotCommitted   the roadmap differs from the one the run would start from
│   ├── BranchInTheWay        a branch of the user's has the name that ours begin with
│   ├── PlanInvalid           dependencies form a cycle or name nobody
│   ├── TaskUnknown           no task has this id
│   ├── RunUnknown            no run has this id
│   ├── GateUnknown           nobody is asked this
│   ├── PlaceUnknown          a name stands for no milepost, attempt, mark or commit
│   ├── MarkInvalid           a mark cannot have this name
│   ├── EpisodeUnknown        no episode has this id, or it has ended
│   ├── ExportRefused         a file is no export of a memory, or not a whole one
│   ├── EpisodeInvalid        an episode cannot have this id, or a step this number
│   ├── EpisodeDiverged       another step with this number, or another end, was kept before
│   ├── EpisodeFull           an episode has as many steps as it may have, or they are too large
│   ├── LessonUnknown         no lesson has this id
│   ├── AgentUnknown          the name of an agent means nothing here
│   ├── SettingInvalid        milepost.toml or a flag holds a value that cannot be used
│   ├── SettingsNotAgreed     a repository wants what a person on this machine must agree to first
│   ├── HiddenTestsInGit      hidden tests are where every agent can read them
│   ├── ArtifactUnfit         a target cannot run this kind of artifact, or nothing says how
│   ├── NothingToPackage      no kind of artifact fits the project, or several do
│   ├── TargetUnknown         no target has this name
│   └── PatternInputsInvalid  a pattern lacks what it needs, every problem listed
├── SandboxRefused            this machine cannot hold the trust level that was asked for
├── BudgetSpent               what comes next could break the wall around a run or a task
├── GateClosed                a person was asked this and has answered otherwise
├── GateChanged               what a person was shown is not what is asked about now
├── TaskChanged               what a person was shown of a task is not what the roadmap says now
├── EngineBusy                another engine holds the state directory
├── LeaseLost                 a worker was taken over from, and may do nothing more (exit 3)
├── VersionDiffers            a database belongs to workers of another version, or a newer one wrote it
├── RunUnfinished             a run was interrupted and asks to be resumed or left
├── NothingToSteer            no run is on that could be asked for something
├── TogetherImpossible        projects cannot be worked on as one
├── LandingRefused            held work cannot become a milepost as the branch is now
├── UndoImpossible            a milepost cannot be taken back alone
├── CommitRefused             an edit cannot be committed by itself now
├── RestoreRefused            bringing files back would take something that is not committed
├── NotProven                 a commit is to be packaged or deployed whose mileposts do not hold, or that is none
├── PackageFailed             an artifact cannot be built, is not the same twice, or does not run
├── EvidenceForged            a milepost's note is not the one it was made with
├── RowRefused                a row of a database is none that milepost writes, and is not read
├── StateRefused              a state directory is not one that this machine made, or that a person here agreed to
├── TargetRefused             a target or its vendor's client does not do what it is asked
├── NoAnswer                  a model's service does not answer
├── ExecutionFailed           code in the sandbox ended with an error
│   └── ExecutionTimeout      it ran longer than it may
├── DatabaseAway              a database over the network does not answer, or not in time
├── DatabaseRefuses           it answers, and does not do what it is asked
│   └── ValueRefused          because of one value that it can neither keep nor give
├── CassetteExhausted         a replay has no more answers for this attempt
├── RoadmapUnwritable         the roadmap cannot be changed on disk, or changes faster than it can be read
└── MachineFailed             the machine, not the work, failed; a resumed run goes on
    ├── GitFailed             git ended with an error
    └── StateUnwritable       the state directory cannot be written: read-only, full
"""

from __future__ import annotations

from typing import Literal

from milepost.core.asked_settings import SettingsQuestion


class MilepostError(Exception):
    """Says what is wrong in one line, and in `advice` what to do about it.

    `is_recoverable` says that the same call can succeed later, without another request: when a service answers again,
    somebody else is done, or the machine has room.
    """

    exit_code = 1
    is_recoverable = False

    def __init__(self, message: str, advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice


class Misuse(MilepostError):
    exit_code = 2


class NoRepository(Misuse):
    pass


class NoCommits(Misuse):
    pass


class RoadmapMissing(Misuse):
    pass


class RoadmapUnreadable(Misuse):
    pass


class ManuscriptMisread(Misuse):
    pass


class EditRefused(Misuse):
    pass


class FileInTheWay(Misuse):
    pass


class RoadmapGuessed(Misuse):
    pass


class RoadmapNotCommitted(Misuse):
    pass


class BranchInTheWay(Misuse):
    pass


class PlanInvalid(Misuse):
    pass


class TaskUnknown(Misuse):
    pass


class RunUnknown(Misuse):
    pass


class GateUnknown(Misuse):
    pass


class PlaceUnknown(Misuse):
    pass


class MarkInvalid(Misuse):
    pass


class EpisodeUnknown(Misuse):
    pass


class ExportRefused(Misuse):
    pass


class EpisodeInvalid(Misuse):
    pass


class EpisodeDiverged(Misuse):
    pass


class EpisodeFull(Misuse):
    pass


class LessonUnknown(Misuse):
    pass


class AgentUnknown(Misuse):
    pass


class SettingInvalid(Misuse):
    pass


class SettingsNotAgreed(Misuse):
    """`question` says what is wanted, and keeps the agreement of whoever was asked."""

    def __init__(self, message: str, advice: str = "", *, question: SettingsQuestion) -> None:
        super().__init__(message, advice)
        self.question = question


class HiddenTestsInGit(Misuse):
    pass


class NothingToPackage(Misuse):
    pass


class PatternInputsInvalid(Misuse):
    pass


class ArtifactUnfit(Misuse):
    pass


class TargetUnknown(Misuse):
    pass


class SandboxRefused(MilepostError):
    pass


class TargetRefused(MilepostError):
    pass


class NotProven(MilepostError):
    pass


class BudgetSpent(MilepostError):
    """`scope` is whose wall it is, `wall` what it is around; the run parks, or the task ends."""

    def __init__(
        self,
        message: str,
        advice: str = "",
        *,
        scope: Literal["run", "task"] = "run",
        wall: Literal["usd", "tokens", "seconds", "attempts"] = "usd",
    ) -> None:
        super().__init__(message, advice)
        self.scope = scope
        self.wall = wall


class GateClosed(MilepostError):
    pass


class LandingRefused(MilepostError):
    """Held work cannot become a milepost: it conflicts with, fails on, or lacks what the branch has now."""


class GateChanged(MilepostError):
    pass


class TaskChanged(MilepostError):
    pass


class EngineBusy(MilepostError):
    is_recoverable = True


class LeaseLost(MilepostError):
    exit_code = 3


class VersionDiffers(MilepostError):
    pass


class RunUnfinished(MilepostError):
    pass


class NothingToSteer(MilepostError):
    pass


class TogetherImpossible(MilepostError):
    pass


class UndoImpossible(MilepostError):
    """`paths` are the files in which later commits changed the same lines, if that is why."""

    def __init__(self, message: str, advice: str = "", *, paths: tuple[str, ...] = ()) -> None:
        super().__init__(message, advice)
        self.paths = paths


class CommitRefused(MilepostError):
    pass


class RestoreRefused(MilepostError):
    pass


class PackageFailed(MilepostError):
    pass


class EvidenceForged(MilepostError):
    pass


class RowRefused(MilepostError):
    pass


class StateRefused(MilepostError):
    pass


class NoAnswer(MilepostError):
    is_recoverable = True


class ExecutionFailed(MilepostError):
    pass


class ExecutionTimeout(ExecutionFailed, TimeoutError):
    """`timeout_s` is how long it was allowed to run."""

    def __init__(self, message: str, advice: str = "", *, timeout_s: float) -> None:
        super().__init__(message, advice)
        self.timeout_s = timeout_s


class DatabaseAway(MilepostError):
    is_recoverable = True


class DatabaseRefuses(MilepostError):
    pass


class ValueRefused(DatabaseRefuses):
    pass


class RoadmapUnwritable(MilepostError):
    pass


class CassetteExhausted(MilepostError):
    pass


class MachineFailed(MilepostError):
    is_recoverable = True


class GitFailed(MachineFailed):
    pass


class StateUnwritable(MachineFailed):
    pass
