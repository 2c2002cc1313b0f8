"""The errors that callers may want to tell apart; all are a `milepost.MilepostError`.

For example:

    import milepost
    from milepost import errors

    try:
        milepost.answer_gate("1.2", "approve", digest=shown)
    except errors.GateChanged as error:
        print(error.message, error.advice)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from milepost.core.errors import EditRefused as EditRefused
    from milepost.core.errors import GateChanged as GateChanged
    from milepost.core.errors import GateClosed as GateClosed
    from milepost.core.errors import GateUnknown as GateUnknown
    from milepost.core.errors import LandingRefused as LandingRefused
    from milepost.core.errors import NotProven as NotProven
    from milepost.core.errors import PackageFailed as PackageFailed
    from milepost.core.errors import RunUnknown as RunUnknown
    from milepost.core.errors import SettingsNotAgreed as SettingsNotAgreed
    from milepost.core.errors import TaskChanged as TaskChanged
    from milepost.core.errors import TaskUnknown as TaskUnknown
else:
    from milepost import _lazy

    __all__, __getattr__, __dir__ = _lazy(__name__, __file__)
