"""The known ways for Python code to get at `os` where it was not given: 28 routes, and three things to do at the end.

The ideas are those of smolagents' own tests of its executor: what that one refuses by name, an OS wall holds by nature.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from textwrap import dedent

SECRET_FILE, SECRET_VARIABLE = "escape-file-5f1c", "escape-variable-9a3e"
VARIABLE = "ESCAPE_CANARY"

ROUTES = {
    "import": "import os as module",
    "import of what os is made of": "import posix as module",
    "import from": "from os import path\nmodule = path.os",
    "dunder import": "module = __import__('os')",
    "import through builtins": "import builtins\nmodule = builtins.__import__('os')",
    "eval": "module = eval('__import__(\"os\")')",
    "exec": "space = {}\nexec('import os', space)\nmodule = space['os']",
    "compile": "space = {}\neval(compile('import os', 'any', 'exec'), space)\nmodule = space['os']",
    "builtins among the globals": """
        found = globals()['__builtins__']
        module = (found if isinstance(found, dict) else vars(found))['__import__']('os')
    """,
    "builtins among the locals": """
        found = locals()['__builtins__']
        module = (found if isinstance(found, dict) else vars(found))['__import__']('os')
    """,
    "table of modules": "import sys\nmodule = sys.modules['os']",
    "importlib": "import importlib\nmodule = importlib.import_module('os')",
    "a harmless module's private import": "import random\nmodule = random._os",
    "a harmless module's dictionary": "import random\nmodule = random.__dict__['_os']",
    "two modules deep": "import queue\nmodule = queue.threading._os",
    "two modules deep, table of modules": "import queue\nmodule = queue.threading._sys.modules['os']",
    "three modules deep": "import doctest\nmodule = doctest.inspect.os",
    "a package's inside": "import asyncio\nmodule = asyncio.base_events.events.subprocess.os",
    "a tool's own import": "import shutil\nmodule = shutil.os",
    "getattr by map": "import warnings\nmodule = list(map(getattr, [warnings], ['sys']))[0].modules['os']",
    "getattr by partial and filter": """
        import functools, warnings
        kept = []
        list(filter(lambda name: kept.append(functools.partial(getattr, warnings)(name)), ['sys']))
        module = kept[0].modules['os']
    """,
    "frame": "import sys\nmodule = sys._getframe().f_builtins['__import__']('os')",
    "traceback": """
        try:
            1 / 0
        except ZeroDivisionError as problem:
            module = problem.__traceback__.tb_frame.f_builtins['__import__']('os')
    """,
    "subclass that holds its module": """
        import warnings
        every = {}.__class__.__base__.__subclasses__()
        held = [each for each in every if each.__name__ == 'catch_warnings'][0]()._module.__builtins__
        module = (held if isinstance(held, dict) else vars(held))['__import__']('os')
    """,
    "subclass that imports": """
        every = ().__class__.__base__.__subclasses__()
        module = [each for each in every if each.__name__ == 'BuiltinImporter'][0].load_module('posix')
    """,
    "globals of a method": """
        every = getattr((), '__class__').__base__.__subclasses__()
        module = [each for each in every if each.__name__ == '_wrap_close'][0].__init__.__globals__['sys'].modules['os']
    """,
    "attributes asked for by hand": """
        def own(): pass
        kind = own.__getattribute__('__class__')
        every = type.__getattribute__(kind, '__bases__')[0].__subclasses__()
        module = [each for each in every if 'os._wrap_close' in str(each)][0].close.__globals__['sys'].modules['os']
    """,
    "globals of a function of the library": "import json\nmodule = json.loads.__globals__['codecs'].sys.modules['os']",
}

GOALS = {
    "reads a file": "print(module.read(module.open({secret!r}, 0), 99).decode())",
    "reads the environment": "print(module.environ.get({variable!r}) or module.environ.get({variable!r}.encode()))",
    "runs a command": "module.system('echo out > ' + {outside!r})",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Escape:
    """One route with one thing to do at its end."""

    route: str
    goal: str

    def code(self, *, secret: str, outside: str) -> str:
        goal = GOALS[self.goal].format(secret=secret, variable=VARIABLE, outside=outside)
        return f"{dedent(ROUTES[self.route]).strip()}\n{goal}\n"

    def __str__(self) -> str:
        return f"{self.route}: {self.goal}"


ESCAPES = tuple(Escape(route=route, goal=goal) for route, goal in itertools.product(ROUTES, GOALS))
