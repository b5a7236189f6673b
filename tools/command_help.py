"""Write down what ``--help`` of each command shows: geared_dynamics/apps/cli/command_help.json.

python tools/command_help.py
"""

from __future__ import annotations

import json
from pathlib import Path

from geared_dynamics.apps.cli import main as command_line
from geared_dynamics.apps.cli.main import COMMANDS, command_parser


def main() -> None:
    """Write the file."""
    text = {name: command_line.described(command_parser(name)) for name in COMMANDS}
    path = Path(command_line.__file__).with_name(command_line.HELP_FILE)
    path.write_text(json.dumps(text, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
