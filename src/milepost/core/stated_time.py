"""When a service says that it can be asked again, read from its words: pure, in whatever form and time zone it is said.

Only what follows a word such as `resets`, `try again` or `retry after` is read, so that other times in a text say
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from email.utils import parsedate_to_datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

LONGEST_WAIT_S = 7 * 24 * 3600.0
JUST_PASSED_S = 600.0  # a time of day that was so shortly ago is not tomorrow's

_LEAD = re.compile(
    r"""(?ix)
      \bretry[- _]?after(?:[-_]?(?P<ms>ms)|[-_]?s(?:econds)?)?\b | \bretry[-_ ]?delay\b
    | \b(?:try|trying|ask|retry|available|access|back|use\ it|use\ \w+)\ again\b
    | \b(?:retry|retrying)\b(?=\s(?:in|after|at)\s) | \breset(?:ting|s)?[-_ ]time\b
    | \b(?:quota|limit)reset(?:delay|time(?:stamp)?|at)\b
    | (?<![a-z])resets?(?![a-z])(?:[-_ ]?(?:at|time|in[-_]seconds|in|after|on|requests|tokens))?
    | \b(?:come|be)\sback\b
    | \bwait\b(?=\s(?:for\s)?(?:about\s|another\s)?\d) | \buntil\b | \blimit\ reached\| | \bunlocks?\b
    """
)
_FILLER = re.compile(
    r"""(?ix)^(?:["'\\\s:=({\[,∙·–]|at\b|in\b|on\b|after\b|for\b|about\b|approximately\b|~|another\b|next\b|daily\b
    |every\sday\b|once\b)*"""
)
_UNIT = r"(?:ms|milliseconds?|d(?:ays?)?|h(?:ours?|rs?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?|w(?:eeks?)?)"
_AMOUNT = re.compile(
    rf"(?i)(?:\d+(?:\.\d+)?\s?{_UNIT}(?![a-z])(?:,?\s?(?:and\s)?)?)+|(?:\d+(?:\.\d+)?{_UNIT}(?=\d|\b))+"
)
_ONE = re.compile(rf"(?i)(?:an?|one)\s(?={_UNIT}\b)")
_IN_PROSE = re.compile(r"(?i)\s*[a-z%]")  # what follows a number that counts something else than seconds
_YEAR = re.compile(r"20\d\d\b(?![-/:])")
_FIELD = re.compile(r"""["'\\\s]*[:=]""")  # after the name of a header or of a field
_PART = re.compile(rf"(?i)(\d+(?:\.\d+)?)\s?({_UNIT})(?=\d|\b|$)")
_UNITS = {"w": 604800.0, "d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
_ISO = re.compile(r"(?i)\d{4}([-/])\d\d\1\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?")
_HTTP_DATE = re.compile(r"(?i)[a-z]{3}, \d{1,2} [a-z]{3} \d{4} \d\d:\d\d:\d\d (?:GMT|UTC|[+-]\d{4})")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NUMBER = re.compile(rf"(?i)(\d{{1,13}}(?:\.\d{{1,9}})?)(?![\w:/-]|\.\d)(?!\s?[ap]\.?m\b|\s(?:{'|'.join(_MONTHS)}))")
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})[a-z]*\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_DATE = re.compile(
    rf"(?i)(?:(?:{_MONTH}\s{_DAY})|(?:{_DAY.replace('day', 'day2')}\s{_MONTH.replace('month', 'month2')}))"
    r"(?:,?\s(?P<year>20\d\d))?(?![\d:]|,?\s\d{5})"
)
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY = re.compile(
    rf"(?i)(?P<weekday>{'|'.join(_WEEKDAYS)})(?:day|sday|nesday|rsday|urday|s|r|rs)?\b|(?P<tomorrow>tomorrow)\b"
)
_SPARE_WEEKDAY = re.compile(rf"(?i)\b(?:{'|'.join(_WEEKDAYS)})[a-z]*[,\s]+(?={_DATE.pattern.removeprefix('(?i)')})")
_CLOCK = re.compile(
    r"(?i)(?:(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?(?::(?P<second>\d\d))?\s?(?P<half>[ap])\.?m\b\.?"
    r"|(?P<hour24>\d{1,2}):(?P<minute24>\d\d)(?::(?P<second24>\d\d))?(?!\d)|(?P<word>midnight|noon)\b)"
)
_ZONE = re.compile(
    r"\s?\(?(?:(?:UTC|GMT)?(?P<sign>[+-])(?P<hours>\d{1,2}):?(?P<minutes>\d\d)?\b"
    r"|(?P<word>[Pp]acific|[Mm]ountain|[Cc]entral|[Ee]astern)\b|(?P<name>[A-Z][A-Za-z_]+(?:/[A-Za-z_+-]+\d*){1,2}|Z\b|[A-Z]{2,4}\b))"
)
_ABBREVIATED = {
    **dict.fromkeys(("PT", "PST", "PDT"), "America/Los_Angeles"),
    **dict.fromkeys(("MT", "MST", "MDT"), "America/Denver"),
    **dict.fromkeys(("CT", "CST", "CDT"), "America/Chicago"),
    **dict.fromkeys(("ET", "EST", "EDT"), "America/New_York"),
    "pacific": "America/Los_Angeles",
    "mountain": "America/Denver",
    "central": "America/Chicago",
    "eastern": "America/New_York",
    **dict.fromkeys(("CET", "CEST", "MEZ", "MESZ"), "Europe/Berlin"),
    **dict.fromkeys(("BST",), "Europe/London"),
    **dict.fromkeys(("JST",), "Asia/Tokyo"),
    **dict.fromkeys(("IST",), "Asia/Kolkata"),
}


def stated_wait_s(said: str, now: float, zone: tzinfo | None = None) -> float | None:
    """How long a service asks to wait, seen from `now` (seconds since 1970); None when it does not say.

    A time without a zone is one of `zone`, of the machine's where that is None. Of several the last one counts.
    """
    waits = [wait_s for wait_s in _waits(said, now, zone) if wait_s is not None]
    return min(max(0.0, waits[-1]), LONGEST_WAIT_S) if waits else None


def _waits(said: str, now: float, zone: tzinfo | None) -> Iterator[float | None]:
    for lead in _LEAD.finditer(said):
        rest = said[lead.end() : lead.end() + 80]
        filler = _FILLER.match(rest)
        rest = rest[filler.end() :] if filler else rest
        in_prose = not (_FIELD.match(said, lead.end()) or set(lead[0]) & set("-_|"))
        if not (lead[0].lower() == "until" and _YEAR.match(rest)):
            yield _wait_of(rest, now, zone, in_ms=bool(lead["ms"]), in_prose=in_prose)


def _wait_of(rest: str, now: float, zone: tzinfo | None, *, in_ms: bool, in_prose: bool) -> float | None:
    """The wait that a text begins with; in prose, a number that counts something is none."""
    rest = _ONE.sub("1 ", rest, count=1) if _ONE.match(rest) else rest
    if found := _ISO.match(rest):
        return _of_iso(found[0], rest[found.end() :], now, zone)
    if found := _HTTP_DATE.match(rest):
        return _of_http_date(found[0], now)
    if found := _AMOUNT.match(rest):
        return sum(float(number) * _seconds(unit) for number, unit in _PART.findall(found[0]))
    if found := _NUMBER.match(rest):
        counts_something = in_prose and _IN_PROSE.match(rest, found.end())
        return None if counts_something else _of_number(float(found[1]), now, in_ms=in_ms)
    return _of_calendar(rest, now, zone)


def _seconds(unit: str) -> float:
    unit = unit.lower()
    return 0.001 if unit.startswith(("ms", "milli")) else _UNITS[unit[0]]


def _of_number(number: float, now: float, *, in_ms: bool) -> float | None:
    """Seconds to wait, or a moment in seconds or milliseconds since 1970."""
    if number > 1e12:
        return number / 1000 - now
    if number > 1e9:
        return number - now
    return number / 1000 if in_ms else number


def _of_iso(text: str, after: str, now: float, zone: tzinfo | None) -> float | None:
    try:
        moment = datetime.fromisoformat(text.replace("/", "-"))
    except ValueError:
        return None
    return _timestamp(moment, _zone_in(after) or zone) - now


def _of_http_date(text: str, now: float) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp() - now
    except (ValueError, OverflowError):
        return None


def _of_calendar(rest: str, now: float, zone: tzinfo | None) -> float | None:
    """The wait until a date, a weekday or a time of day, whichever are said, in either order."""
    day, clock, rest = _day_and_clock(rest)
    if day is None and clock is None:
        return None
    zone = _zone_in(rest) or zone
    today = datetime.fromtimestamp(now, zone).replace(tzinfo=None)
    hour, minute, second = _time_of_day(clock) if clock else (0, 0, 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    at = today.replace(hour=hour, minute=minute, second=second, microsecond=0)
    try:
        return _next(at, day, now, zone) - now
    except ValueError:
        return None


def _day_and_clock(rest: str) -> tuple[re.Match[str] | None, re.Match[str] | None, str]:
    day = clock = None
    rest = _SPARE_WEEKDAY.sub("", rest)
    for _ in range(2):
        if day is None and (found := _DATE.match(rest) or _WEEKDAY.match(rest)):
            day = found
        elif clock is None and (found := _CLOCK.match(rest)):
            clock = found
            if day is None and _zone_in(rest[found.end() :]):
                return day, clock, rest[found.end() :]
        else:
            break
        rest = rest[found.end() :]
        if clock is None or day is None:
            following = re.sub(r"(?i)^(?:[\s,]|at\b|on\b)+", "", rest)
            rest = following if _DATE.match(following) or _WEEKDAY.match(following) or _CLOCK.match(following) else rest
    return day, clock, rest


def _time_of_day(clock: re.Match[str]) -> tuple[int, int, int]:
    if clock["word"]:
        return (0 if clock["word"].lower() == "midnight" else 12), 0, 0
    if clock["hour24"]:
        return int(clock["hour24"]), int(clock["minute24"]), int(clock["second24"] or 0)
    hour, minute, second = int(clock["hour"]), int(clock["minute"] or 0), int(clock["second"] or 0)
    if not 1 <= hour <= 12:
        return 24, 0, 0
    return hour % 12 + (12 if clock["half"].lower() == "p" else 0), minute, second


def _next(at: datetime, day: re.Match[str] | None, now: float, zone: tzinfo | None) -> float:
    """The moment of a time of day, on the day that is said, else on the next on which it is still to come."""
    if day is None:
        return _to_come(at, timedelta(days=1), now, zone)
    said = day.groupdict()
    if said.get("tomorrow"):
        return _timestamp(at + timedelta(days=1), zone)
    if said.get("weekday"):
        ahead = (_WEEKDAYS.index(said["weekday"].lower()) - at.weekday()) % 7
        return _to_come(at + timedelta(days=ahead), timedelta(days=7), now, zone)
    month = _MONTHS.index((said["month"] or said["month2"]).lower()) + 1
    at = at.replace(month=month, day=int(said["day"] or said["day2"]), year=int(said["year"] or at.year))
    passed_long_ago = not said["year"] and _timestamp(at, zone) < now - 180 * 86400
    return _timestamp(at.replace(year=at.year + 1) if passed_long_ago else at, zone)


def _to_come(at: datetime, step: timedelta, now: float, zone: tzinfo | None) -> float:
    """The first moment of a time that comes again and again; where clocks are set back, also its second one."""
    for moment in (at, at.replace(fold=1), at + step):
        if _timestamp(moment, zone) >= now - JUST_PASSED_S:
            return _timestamp(moment, zone)
    return _timestamp(at + 2 * step, zone)


def _timestamp(moment: datetime, zone: tzinfo | None) -> float:
    return moment.timestamp() if zone is None else moment.replace(tzinfo=zone).timestamp()


def _zone_in(after: str) -> tzinfo | None:
    """The zone that a time is followed by; None where there is none that is known."""
    found = _ZONE.match(after)
    if found is None:
        return None
    if found["sign"]:
        offset = timedelta(hours=int(found["hours"]), minutes=int(found["minutes"] or 0))
        return timezone(offset if found["sign"] == "+" else -offset) if offset < timedelta(hours=24) else None
    name = found["name"] or found["word"].lower()
    if name in ("Z", "UTC", "GMT"):
        return UTC
    try:
        return ZoneInfo(_ABBREVIATED.get(name, name if "/" in name else "")) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
