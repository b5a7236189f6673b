"""Time of reading recordings and trajectories, of this tree and of another one in turn.

Run it as `python benchmarks/reading.py [--other TREE] [--rounds N] [--seconds S]`. Every round
starts a process of each tree, one after the other, and swaps their order from round to round; a
process reads each file five times and keeps the best, by the processor's time, so that others on
the machine hardly count. Printed are the median time of this tree and the median of the rounds'
ratios, this tree over the other one.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parents[1]
JOINTS = tuple(f"joint_{k}" for k in range(1, 8))
RATE = 1000
REPEATS = 5
TOPIC, TYPE = "/joint_states", "sensor_msgs/msg/JointState"


def motion(seconds):
    """Times and a smooth motion with its torques."""
    t = np.arange(int(seconds * RATE)) / RATE + 1.0
    q = np.sin(t[:, None] * np.linspace(0.5, 2.0, len(JOINTS)))
    noise = np.random.default_rng(1).normal(0.0, 1e-4, q.shape)
    return t, q + noise, np.gradient(q, t, axis=0), 10.0 * q + noise


def write_bags(folder, t, q, v, tau):
    """Write a bag of each storage and compression by the bag library."""
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    from geared_dynamics.recordings.joint_state_codec import serialised

    stamps, store = np.rint(t * 1e9).astype(np.int64), get_typestore(Stores.ROS2_JAZZY)
    messages = serialised(stamps, JOINTS, (q, v, tau))
    for name, storage in (("db3", "SQLITE3"), ("mcap", "MCAP")):
        with Writer(folder / name, version=9, storage_plugin=StoragePlugin[storage]) as writer:
            topic = writer.add_connection(TOPIC, TYPE, typestore=store)
            for stamp, message in zip(stamps.tolist(), messages, strict=True):
                writer.write(topic, stamp, message)
    for packed in ("none", "lz4", "zstd"):
        write_mcap(folder / f"{packed}.mcap", stamps.tolist(), messages, packed)


def write_mcap(path, stamps, messages, packed, per_chunk=1500):
    """Write an MCAP file in chunks of less than a megabyte, as rosbag2 does."""
    import struct
    import zlib

    import lz4.frame
    from backports import zstd

    def text(word):
        return struct.pack("<I", len(word)) + word.encode()

    def record(kind, content):
        return struct.pack("<BQ", kind, len(content)) + content

    squeeze = {"none": bytes, "lz4": lz4.frame.compress, "zstd": zstd.compress}[packed]
    known = record(3, struct.pack("<H", 1) + text(TYPE) + text("ros2msg") + bytes(4))
    known += record(4, struct.pack("<HH", 1, 1) + text(TOPIC) + text("cdr") + bytes(4))
    out = [b"\x89MCAP0\r\n" + record(1, text("ros2") + text("benchmark"))]
    for k in range(0, len(messages), per_chunk):
        body, places = known if k == 0 else b"", b""
        for number, when in enumerate(stamps[k : k + per_chunk], k):
            places += struct.pack("<QQ", when, len(body))
            body += record(5, struct.pack("<HIQQ", 1, number, when, when) + messages[number])
        name = text("" if packed == "none" else packed)
        small = squeeze(body)
        head = struct.pack("<QQQI", stamps[k], when, len(body), zlib.crc32(body)) + name
        out.append(record(6, head + struct.pack("<Q", len(small)) + small))
        out.append(record(7, struct.pack("<HI", 1, len(places)) + places))
    out += [record(15, bytes(4)), known, record(2, bytes(20)), b"\x89MCAP0\r\n"]
    path.write_bytes(b"".join(out))


def write_tables(folder, t, q, v, tau):
    """Write the motion as CSV and TSV."""
    heads = [f"{what}.{j}" for what in ("position", "velocity", "effort") for j in JOINTS]
    for ending, between in (("csv", ","), ("tsv", "\t")):
        np.savetxt(
            folder / f"table.{ending}", np.column_stack([t, q, v, tau]), fmt="%.9g",
            delimiter=between, header=between.join(["time", *heads]), comments="",
        )  # fmt: skip


def write_trajectories(folder, q, v):
    """Write a trajectory of 10 points and one of a minute at 1 kHz."""
    for name, count in (("small", 10), ("big", 20_000)):
        lines = [f"joint_names: [{', '.join(JOINTS)}]", "points:"]
        for k in range(count):
            row = k % len(q)
            lists = [", ".join(f"{x:.9g}" for x in part[row]) for part in (q, v)]
            when = f"{{sec: {k // RATE}, nanosec: {k % RATE * 10**6}}}"
            lines.append(f"- positions: [{lists[0]}]\n  velocities: [{lists[1]}]")
            lines.append(f"  time_from_start: {when}")
        (folder / f"{name}.yaml").write_text("\n".join(lines) + "\n")


def read_recording(path):
    """Open a recording and read all of it."""
    from geared_dynamics.analysis import open_recording

    found = open_recording(path, JOINTS)
    return sum(len(found.reader.read(k).stamp) for k in range(found.reader.pieces))


def read_points(path):
    """Read a trajectory."""
    from geared_dynamics.description.trajectory_file import read_trajectory

    return len(read_trajectory(path)["points"])


def one(folder):
    """Print the seconds of each file in this process's tree."""
    seconds = {}
    for name in ("db3", "mcap", "none.mcap", "lz4.mcap", "zstd.mcap", "table.csv", "table.tsv",
                 "small.yaml", "big.yaml"):  # fmt: skip
        read = read_points if name.endswith("yaml") else read_recording
        best, calls = np.inf, 20 if name == "small.yaml" else 1
        read(folder / name)
        for _ in range(REPEATS):
            start = time.process_time()
            for _ in range(calls):
                count = read(folder / name)
            best = min(best, (time.process_time() - start) / calls)
        seconds[name] = [best, count]
    print(json.dumps(seconds))


def run(tree, folder):
    """Measure a tree in a process of its own."""
    command = [sys.executable, __file__, "--one", "--folder", str(folder)]
    done = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": str(tree)}, check=True, capture_output=True
    )
    return json.loads(done.stdout)


def main():
    """Write the files, and measure in turn."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--other", type=Path, default=HERE, help="tree to compare with")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=60.0, help="of motion at 1 kHz")
    parser.add_argument("--one", action="store_true", help="measure in this process")
    parser.add_argument("--folder", type=Path)
    args = parser.parse_args()
    if args.one:
        one(args.folder)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        t, q, v, tau = motion(args.seconds)
        write_bags(folder, t, q, v, tau)
        write_tables(folder, t, q, v, tau)
        write_trajectories(folder, q, v)
        ours, ratios = {}, {}
        for k in range(args.rounds):
            pairs = [("ours", HERE), ("other", args.other)]
            found = {side: run(tree, folder) for side, tree in pairs[:: 1 if k % 2 else -1]}
            for kind, (seconds, count) in found["ours"].items():
                other, there = found["other"][kind]
                assert count == there, f"{kind}: {count} samples here, {there} there"
                ours.setdefault(kind, []).append(seconds)
                ratios.setdefault(kind, []).append(seconds / other)
        for kind, all_ratios in ratios.items():
            middle = statistics.median(all_ratios)
            spread = f"{min(all_ratios):.3f} to {max(all_ratios):.3f}"
            print(f"figure: reading {kind}: {1e3 * statistics.median(ours[kind]):.2f} ms, "
                  f"ratio {middle:.3f} ({spread})")  # fmt: skip


if __name__ == "__main__":
    main()
