"""The tool agent: a model that works with the tools of a workspace."""
