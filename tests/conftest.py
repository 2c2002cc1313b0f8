"""What all tests share: the figures of the lying agents, told at the end of a run that had them."""

from tests.exercises.figures import pytest_terminal_summary as pytest_terminal_summary
