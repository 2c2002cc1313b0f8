"""The entry points of a project, and running one in the sandbox with the class of what went wrong."""

from milepost.sandbox.scripts.entry_points import EntryPoint as EntryPoint
from milepost.sandbox.scripts.entry_points import best_entry as best_entry
from milepost.sandbox.scripts.entry_points import entry_named as entry_named
from milepost.sandbox.scripts.entry_points import entry_points as entry_points
from milepost.sandbox.scripts.entry_points import names_of as names_of
from milepost.sandbox.scripts.entry_points import project_name as project_name
from milepost.sandbox.scripts.failure import ScriptFailure as ScriptFailure
from milepost.sandbox.scripts.run import EntryRunner as EntryRunner
from milepost.sandbox.scripts.run import ScriptResult as ScriptResult
from milepost.sandbox.scripts.run import run_with_fixes as run_with_fixes
