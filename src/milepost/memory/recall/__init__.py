"""What of the memory fits a task: found by the signature of an error first, then by the words."""
