"""What runs on the other side of the wall or builds it: standard library only, and nothing else of Milepost.

The warden's interpreter is isolated from the host's packages, so it finds this folder as the top-level package `walls`;
the host imports the same files as `milepost.sandbox.walls`. Imports within it are relative for that reason.
"""
