"""Type the blocks of docs/tutorials/first_hours.md in their order; say how long each part takes.

    python tools/first_hours.py [--install] [--folder DIR]

Without ``--install`` the first part is left out: the programs are those of this environment.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "tutorials" / "first_hours.md"
BLOCK = re.compile(r"^```bash\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INSTALL = "Install"


def parts() -> dict[str, str]:
    """The page's shell blocks by heading."""
    sections = PAGE.read_text(encoding="utf-8").split("\n## ")[1:]
    blocks = {text.partition("\n")[0]: "".join(BLOCK.findall(text)) for text in sections}
    return {name: block for name, block in blocks.items() if block}


def main() -> int:
    """Type them; the exit code is that of the first part that fails, else 0."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp(prefix="first_hours_"))
    folder.mkdir(parents=True, exist_ok=True)
    programs = ROOT / ".venv" / "bin" if given.install else Path(sys.executable).parent
    environment = os.environ | {"PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', '')}"}
    for name, block in parts().items():
        if name == INSTALL and not given.install:
            continue
        start, place = time.monotonic(), ROOT if name == INSTALL else folder
        done = subprocess.run(["bash", "-e", "-c", block], cwd=place, env=environment, check=False)
        print(f"## {name}: {time.monotonic() - start:.0f} s", flush=True)
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
