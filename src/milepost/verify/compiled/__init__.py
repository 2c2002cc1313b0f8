"""The deciding tests of Go and Rust once more, in a program that does not look like a test run."""
