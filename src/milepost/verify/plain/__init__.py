"""The deciding tests once more as a plain program, without a test runner."""
