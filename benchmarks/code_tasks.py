"""The tasks of benchmarks/agents.py: what a scripted model writes, step by step, and the answer that is right.

Code that both agents can run: the functions read_file and write_file, variables that stay, and errors on the way.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Task:
    """A task for a scripted model."""

    name: str
    text: str
    steps: tuple[str, ...]
    answer: object


TASKS = (
    Task(
        "sums over twenty steps",
        "Add the squares from 0 to 19, one at a time.",
        (
            "total = 0\nseen = []",
            *(f"total += {n} ** 2\nseen.append({n})\nprint(total, len(seen))" for n in range(20)),
            "final_answer(total)",
        ),
        2470,
    ),
    Task(
        "words of a text",
        "Count the words of a text and keep the counts in counts.txt.",
        (
            "text = 'the cat and the dog and the bird'\nwrite_file('text.txt', text)",
            "words = read_file('text.txt').split()\nprint(len(words), words[:3])",
            "counts = {}\nfor word in words:\n    counts[word] = counts.get(word, 0) + 1\nprint(counts)",
            "lines = [f'{word} {counts[word]}' for word in sorted(counts)]\nprint(lines)",
            "write_file('counts.txt', '\\n'.join(lines))",
            "final_answer(read_file('counts.txt'))",
        ),
        "and 2\nbird 1\ncat 1\ndog 1\nthe 3",
    ),
    Task(
        "errors on the way",
        "Find the mean, though things go wrong.",
        (
            "numbers = [3, 5, 'x', 10]",
            "print(sum(numbers) / len(numbers))",
            "numbers = [n for n in numbers if isinstance(n, int)]\nprint(numbers)",
            "print(numbers[7])",
            "def mean(values):\n    return sum(values) / len(values)\nprint(mean(numbers))",
            "print(undefined_name)",
            "final_answer(mean(numbers))",
        ),
        6.0,
    ),
)
