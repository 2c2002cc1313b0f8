"""Small repositories with a gap each, and the agents, honest and lying, that are let loose on them."""
