"""``geared-dynamics completion``: what lets a shell complete the words of this program."""

from __future__ import annotations

import argparse

from geared_dynamics.errors import GearedDynamicsError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command does, and what it takes."""
    parser.description = (
        "Print the shell code that completes commands, options and files. For this shell: "
        'eval "$(geared-dynamics completion bash)"; for all: put that line into ~/.bashrc or '
        "~/.zshrc, or write the output for fish to "
        "~/.config/fish/completions/geared-dynamics.fish."
    )
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))


def run(args: argparse.Namespace) -> int:
    """Print the code; return 0.

    Raises:
        GearedDynamicsError: The library that it needs is not installed.
    """
    try:
        from argcomplete.shell_integration import shellcode
    except ImportError:
        remedy = "pip install argcomplete"
        raise GearedDynamicsError("completion", "argcomplete is not installed", remedy) from None
    print(shellcode(["geared-dynamics"], shell=args.shell))
    return 0
