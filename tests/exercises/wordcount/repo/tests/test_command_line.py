import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parent.parent / "wordcount.py"


def wordcount(text, *options):
    return subprocess.run([sys.executable, PROGRAM, *options], input=text, capture_output=True, text=True)


def test_words_are_counted():
    assert wordcount("to be or not to be\n").stdout == "6\n"


def test_the_most_frequent_words():
    done = wordcount("b a To be or not to be, b\n", "--top", "3")
    assert (done.returncode, done.stdout) == (0, "b 2\nbe 2\nto 2\n")


def test_an_unknown_option_is_refused():
    assert wordcount("", "--bottom").returncode == 2
