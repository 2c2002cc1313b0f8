from datetime import date

from deadlines import add_months, next_working_day


def test_a_month_later():
    assert add_months(date(2024, 3, 5), 1) == date(2024, 4, 5)


def test_over_the_end_of_the_year():
    assert add_months(date(2024, 11, 5), 3) == date(2025, 2, 5)


def test_the_last_day_stays_the_last():
    assert add_months(date(2024, 1, 31), 1) == date(2024, 2, 29)


def test_back():
    assert add_months(date(2024, 1, 31), -2) == date(2023, 11, 30)


def test_a_weekend_is_waited_out():
    assert next_working_day(date(2024, 6, 1)) == date(2024, 6, 3)
    assert next_working_day(date(2024, 6, 4)) == date(2024, 6, 4)
