"""When something is due."""

from datetime import date, timedelta


def add_months(start: date, months: int) -> date:
    """The day so many months later."""
    return start.replace(month=start.month + months)


def next_working_day(day: date) -> date:
    """The day itself, or the Monday after it."""
    return day + timedelta(days=max(0, 7 - day.weekday()) if day.weekday() > 4 else 0)
