"""When something is due."""

from calendar import monthrange
from datetime import date, timedelta


def add_months(start: date, months: int) -> date:
    """The day so many months later, or the last of that month where there is no such day."""
    years, month = divmod(start.month - 1 + months, 12)
    year, month = start.year + years, month + 1
    return date(year, month, min(start.day, monthrange(year, month)[1]))


def next_working_day(day: date) -> date:
    """The day itself, or the Monday after it."""
    return day + timedelta(days=max(0, 7 - day.weekday()) if day.weekday() > 4 else 0)
