"""All fuzzers by name."""

from __future__ import annotations

import importlib.util

from fuzz import calls, commands, files, histories
from fuzz.guards import Fuzzer


def seed_alone(seed: int) -> bytes:
    """The case of a fuzzer that makes everything from the seed."""
    return str(seed).encode()


def call(seed: int) -> bytes:
    """As ``seed_alone``; models are loaded and compiled before the time of a case counts."""
    calls.calls()
    return seed_alone(seed)


def run_messages(case: bytes) -> str:
    """``joint_states.run``; messages are imported when test/ros has said how they are checked."""
    from fuzz import joint_states

    return joint_states.run(case)


DESCRIPTIONS = files.Files(files.descriptions, files.load_knowledge)
BEGUN = files.Files(files.robots, files.begin_drivetrain)
COMMANDS = files.Files(files.descriptions, commands.run_command)
TRAJECTORIES = files.Files(lambda: {"trajectory.yaml": files.TRAJECTORY}, files.load_trajectory)
RECORDINGS = files.Files(files.recordings, files.load_recording)
FUZZERS = {
    "arrays": Fuzzer(call, calls.run),
    "descriptions": Fuzzer(DESCRIPTIONS.case, DESCRIPTIONS.run),
    "begun": Fuzzer(BEGUN.case, BEGUN.run),
    "commands": Fuzzer(COMMANDS.case, COMMANDS.run),
    "trajectories": Fuzzer(TRAJECTORIES.case, TRAJECTORIES.run),
    "histories": Fuzzer(seed_alone, histories.run),
}
if all(map(importlib.util.find_spec, ("lz4", "backports"))):
    FUZZERS["recordings"] = Fuzzer(RECORDINGS.case, RECORDINGS.run)
if importlib.util.find_spec("rclpy"):
    FUZZERS["messages"] = Fuzzer(seed_alone, run_messages)
