import unittest

from durations.parse import parse


class Parse(unittest.TestCase):
    def test_seconds(self):
        self.assertEqual(parse("45s"), 45)

    def test_minutes(self):
        self.assertEqual(parse("10m"), 600)

    def test_hours(self):
        self.assertEqual(parse("1h30m"), 5400)

    def test_nonsense_is_refused(self):
        for text in ("", "h", "1x", "30m1h", "-5s"):
            with self.subTest(text=text), self.assertRaises(ValueError):
                parse(text)


if __name__ == "__main__":
    unittest.main()
