"""Git: checkouts, snapshots, mileposts, undo."""
