"""What our own agents cost, beside the agents of others: all comparisons, one after another.

python benchmarks/agents.py [ROUNDS]
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
COMPARISONS = ("code_agent.py", "tool_agent.py")


def main() -> None:
    failed = 0
    for name in COMPARISONS:
        print(f"== {name}", flush=True)
        failed += subprocess.run([sys.executable, str(HERE / name), *sys.argv[1:]], check=False).returncode != 0
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
