"""What a run may cost, costs, and will cost."""
