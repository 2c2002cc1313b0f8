"""Scripts: where a project begins to run, and running a file or a text of Python, JavaScript or TypeScript."""

from milepost.sandbox.scripts.entry_points import EntryPoint as EntryPoint
from milepost.sandbox.scripts.entry_points import entry_points as entry_points
from milepost.sandbox.scripts.failure import ScriptFailure as ScriptFailure
from milepost.sandbox.scripts.run import ScriptResult as ScriptResult
from milepost.sandbox.scripts.run import ScriptRunner as ScriptRunner
from milepost.sandbox.scripts.script import Script as Script
from milepost.sandbox.scripts.script import script_file as script_file
