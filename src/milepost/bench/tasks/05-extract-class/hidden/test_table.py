import ast
from pathlib import Path

import pytest
from report import report
from table import Table


def test_rows_line_up():
    table = Table(["a", "long"])
    table.add([1, None])
    assert table.render().splitlines() == ["a  long", "-  ----", "1  None"]


@pytest.mark.parametrize("row", [[], [1], [1, 2, 3]])
def test_rows_of_another_length_are_refused(row):
    with pytest.raises(ValueError):
        Table(["a", "b"]).add(row)


def test_the_report_reads_as_before():
    assert report([("Ada", 36)]).splitlines() == ["name  age", "----  ---", "Ada   36 "]
    assert report([]).splitlines() == ["name  age", "----  ---"]


def test_the_report_uses_the_table(result):
    tree = ast.parse((Path(result) / "report.py").read_text())
    assert any(isinstance(node, ast.Name) and node.id == "Table" for node in ast.walk(tree))
