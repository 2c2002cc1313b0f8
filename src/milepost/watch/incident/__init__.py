"""From an incident to a task: what is told of it, and what shows it again. Pure."""
