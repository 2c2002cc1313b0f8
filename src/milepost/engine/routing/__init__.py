"""Who does a task, where several could."""
