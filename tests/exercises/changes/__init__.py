"""Small projects, each with changes that only pretend to do its task."""

from . import compiled_scenes, node_scenes, python_scenes, shell_scenes

SCENES = (*python_scenes.SCENES, *node_scenes.SCENES, *compiled_scenes.SCENES, *shell_scenes.SCENES)
