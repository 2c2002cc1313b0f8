from pathlib import Path


def test_there_is_a_readme():
    assert (Path(__file__).parent.parent / "README.md").read_text().startswith("# Buffers")
