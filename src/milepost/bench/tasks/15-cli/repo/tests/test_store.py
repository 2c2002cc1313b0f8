from store import load, save


def test_entries_are_kept(tmp_path):
    save(tmp_path / "list", [(True, "tea"), (False, "milk")])
    assert load(tmp_path / "list") == [(True, "tea"), (False, "milk")]
