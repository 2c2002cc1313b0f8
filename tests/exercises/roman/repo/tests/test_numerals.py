import unittest

from roman import write


class WriteTest(unittest.TestCase):
    def test_signs_add_up(self):
        self.assertEqual(write(2023 - 1), "MMXXII")
        self.assertEqual(write(8), "VIII")

    def test_the_short_way(self):
        for number, text in [(4, "IV"), (9, "IX"), (40, "XL"), (90, "XC"), (400, "CD"), (900, "CM"), (1994, "MCMXCIV")]:
            with self.subTest(number=number):
                self.assertEqual(write(number), text)

    def test_nothing_cannot_be_written(self):
        self.assertRaises(ValueError, write, 0)
        self.assertRaises(ValueError, write, 4000)
