"""Guests in containers of podman or docker, for who asks for it: the same terminal and executor, other walls."""
