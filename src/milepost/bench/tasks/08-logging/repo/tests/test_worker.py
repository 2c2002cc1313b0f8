from worker import work


def test_results_are_kept():
    assert work({"a": lambda: 1, "b": lambda: 1 / 0}) == {"a": 1}


def test_nothing_is_printed(capsys):
    work({"a": lambda: 1})
    assert capsys.readouterr().out == ""


def test_the_end_is_logged(caplog):
    caplog.set_level("INFO")
    work({"a": lambda: 1, "b": lambda: 1 / 0})
    assert caplog.records[-1].getMessage() == "1 done, 1 failed"
