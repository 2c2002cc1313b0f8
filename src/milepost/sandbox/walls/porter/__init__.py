"""The porter: supervises those system calls of a guest that seccomp hands to user space (seccomp notification)."""
