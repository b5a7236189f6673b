"""``--help`` of a command without its libraries: argparse's own text from ``command_help.json``.

A command's arguments need NumPy, numba and more to be built, which takes longer than reading the
help. ``tools/command_help.py`` writes down what the help shows of them; a test compares.
"""

from __future__ import annotations

import argparse
import json
from importlib.resources import files
from typing import Any

FILE = "command_help.json"
SHOWN = ("option_strings", "dest", "nargs", "default", "required", "help", "metavar")


class Shown(argparse.Action):
    """An argument that is shown, and not read: the help ends the program."""

    def __call__(self, *_: Any) -> None:
        """Take what was given for it."""


def described(parser: argparse.ArgumentParser) -> dict[str, Any]:
    """What the help shows of a parser, as JSON has it: the order is that of the usage."""
    groups, either = parser._action_groups, parser._mutually_exclusive_groups
    arguments = [
        {name: getattr(action, name) for name in SHOWN}
        | {
            "choices": None if action.choices is None else [*action.choices],
            "group": next(g.title for g in groups if action in g._group_actions),
            "either": any(action in group._group_actions for group in either),
        }
        for action in parser._actions
        if not isinstance(action, argparse._HelpAction)
    ]
    titles = {group.title: group.description for group in groups}
    text = {"description": parser.description, "groups": titles, "arguments": arguments}
    return dict(json.loads(json.dumps(text, default=str)))


def show_arguments(parser: argparse.ArgumentParser, command: str) -> None:
    """Give a parser what the help of a command shows."""
    text = json.loads(files(__package__).joinpath(FILE).read_text("utf-8"))[command]
    parser.description = text["description"]
    groups: dict[str, Any] = {str(group.title): group for group in parser._action_groups}
    for title, description in text["groups"].items():
        if title not in groups:
            groups[title] = parser.add_argument_group(title, description)
    exclusive: Any = None
    for argument in text["arguments"]:
        group, either = groups[argument.pop("group")], argument.pop("either")
        if isinstance(argument["metavar"], list):
            argument["metavar"] = tuple(argument["metavar"])
        if either and exclusive is None:
            exclusive = group.add_mutually_exclusive_group(required=True)
        (exclusive if either else group)._add_action(Shown(**argument))
