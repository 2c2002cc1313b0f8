from importer import main


def test_a_file_that_is_not_there(tmp_path):
    assert main(tmp_path / "none", tmp_path / "out") == 1
