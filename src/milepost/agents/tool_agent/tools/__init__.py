"""The tools of a model: files, searches and commands of one workspace."""
