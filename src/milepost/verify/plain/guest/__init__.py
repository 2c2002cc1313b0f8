"""Programs that run inside the sandbox: standard library only, and no name that tells what they are for."""
