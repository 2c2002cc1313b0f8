"""Forms."""

FIELDS = ("name", "age", "email")
