import unittest

from durations.format import format_seconds


class Format(unittest.TestCase):
    def test_units_that_are_zero_are_left_out(self):
        self.assertEqual(format_seconds(5400), "1h30m")

    def test_all_units(self):
        self.assertEqual(format_seconds(3661), "1h1m1s")

    def test_nothing(self):
        self.assertEqual(format_seconds(0), "0s")


if __name__ == "__main__":
    unittest.main()
