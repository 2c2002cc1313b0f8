"""`python -m milepost`: the command line."""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the folder that one is in: its files are not ours to import
    from milepost.cli.main import main

    main()
