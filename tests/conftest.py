"""What all tests share: a PostgreSQL server, the command line warm, programs that must work, figures at the end."""

from hypothesis import settings

from tests import environment
from tests.e2e.warm import nursed as nursed
from tests.exercises.figures import pytest_terminal_summary as pytest_terminal_summary
from tests.order import pytest_collection_modifyitems as pytest_collection_modifyitems
from tests.postgres import cluster as cluster
from tests.postgres import database as database
from tests.postgres import place as place
from tests.postgres import postgres as postgres
from tests.sqld import sqld as sqld
from tests.tools import pytest_runtest_setup as pytest_runtest_setup

environment.settle()
environment.keep_state_apart()
environment.agree()

# How long an example takes says more about the machine than about us.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
