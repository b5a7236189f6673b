"""``--help`` from the written-down arguments: it is argparse's own, and needs no library."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from geared_dynamics.apps.cli import main as command_line
from geared_dynamics.apps.cli.main import COMMANDS, command_parser, main

FILE = Path(command_line.__file__).with_name(command_line.HELP_FILE)


@pytest.mark.parametrize("command", COMMANDS)
def test_it_is_what_argparse_prints(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = json.loads(FILE.read_text("utf-8"))
    parser = command_parser(command)
    assert text[command] == command_line.described(parser), "run python tools/command_help.py"
    for columns in ("60", "80", "140"):
        monkeypatch.setenv("COLUMNS", columns)
        with pytest.raises(SystemExit) as end:
            main([command, "--help"])
        assert end.value.code == 0
        assert capsys.readouterr().out == parser.format_help()


def test_it_needs_no_library() -> None:
    program = (
        "import sys\nfrom geared_dynamics.apps.cli.main import main\n"
        "try:\n    main(['help', 'identify', '--states', '3'])\nexcept SystemExit:\n    pass\n"
        "sys.exit(bool({'numpy', 'numba', 'rich'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
