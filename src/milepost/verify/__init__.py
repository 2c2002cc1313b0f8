"""What the engine asks of a result, and the evidence it gets."""
