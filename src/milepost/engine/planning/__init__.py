"""A roadmap as the plan that a run follows."""
