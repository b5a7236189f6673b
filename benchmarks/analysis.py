"""`analyze` on generated bags: speed against real time, memory, streaming, Dask, model alone.

Run it as `python benchmarks/analysis.py [speed|dask|model|reading|all] [--hours H] [--kind K]`.
A bag of one hour takes 1.2 GB of disk. Every figure comes from one interleaved run.
"""

import argparse
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from arms import drivetrain, rows

import geared_dynamics as gd
from geared_dynamics.analysis.compare import analyze
from geared_dynamics.analysis.comparison_numbers import joint_figures
from geared_dynamics.analysis.span_comparison import predicted
from geared_dynamics.recordings.joint_state_codec import serialised
from geared_dynamics.recordings.recording import open_recording

JOINTS, RATE = 7, 1000
BATCH = 60 * RATE  # messages written at a time
SCHEMA = """
CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL,
  serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL);
CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL,
  timestamp INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX timestamp_idx ON messages (timestamp ASC);
INSERT INTO topics VALUES(1, '/joint_states', 'sensor_msgs/msg/JointState', 'cdr', '');
"""


def arm(joints=JOINTS):
    """An arm with a skew rotor for each joint."""
    return gd.from_dh(rows(joints), drivetrain(joints), carrier_frame="joint")


def generated(model, start, count, random):
    """Stamps [ns], and a motion with the torques that the model needs for it, with noise."""
    stamp = (start + np.arange(count)) * (10**9 // RATE)
    t = stamp[:, None] * 1e-9
    w = 2 * np.pi * np.array([0.1, 0.23, 0.41])
    size = 0.3 * np.ones(model.n)
    phase = np.arange(model.n)
    angle = [w_k * t + phase * (k + 1) for k, w_k in enumerate(w)]
    q = sum(size * np.sin(x) for x in angle)
    v = sum(size * w_k * np.cos(x) for w_k, x in zip(w, angle, strict=True))
    a = -sum(size * w_k**2 * np.sin(x) for w_k, x in zip(w, angle, strict=True))
    tau = gd.inverse_dynamics(model, q, v, a) + 3.0 * v + 2.0 * np.sign(v)
    return stamp, q + random.normal(0, 1e-5, q.shape), v, tau + random.normal(0, 0.5, q.shape)


def write_sqlite(path, model, seconds):
    """Write a bag as rosbag2 writes it."""
    random = np.random.default_rng(1)
    with sqlite3.connect(path) as base:
        base.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;" + SCHEMA)
        for start in range(0, int(seconds * RATE), BATCH):
            count = min(BATCH, int(seconds * RATE) - start)
            stamp, q, v, tau = generated(model, start, count, random)
            messages = serialised(stamp, model.joint_names, (q, v, tau))
            table = zip(stamp.tolist(), messages, strict=True)
            base.executemany(
                "INSERT INTO messages(topic_id, timestamp, data) VALUES(1, ?, ?)", table
            )
    base.close()


def write_mcap(path, model, seconds):
    """Write a bag with the bag library, in chunks without compression."""
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    store, random = get_typestore(Stores.ROS2_JAZZY), np.random.default_rng(1)
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        topic = writer.add_connection(
            "/joint_states", "sensor_msgs/msg/JointState", typestore=store
        )
        for start in range(0, int(seconds * RATE), BATCH):
            count = min(BATCH, int(seconds * RATE) - start)
            stamp, q, v, tau = generated(model, start, count, random)
            for when, message in zip(
                stamp.tolist(), serialised(stamp, model.joint_names, (q, v, tau)), strict=True
            ):
                writer.write(topic, when, message)


def bag(folder, kind, hours):
    """A bag of so many hours, written once."""
    path = folder / f"bag_{hours:g}h_{kind}"
    if not path.exists():
        (write_mcap if kind == "mcap" else write_sqlite)(path, arm(), hours * 3600)
    return path


def timed(path, **options):
    """Seconds by the clock and of this process, reading included, compiled before; the result."""
    model = arm()
    predicted(model, *np.zeros((3, 4, model.n)))
    start, used = time.perf_counter(), time.process_time()
    result = analyze(model, open_recording(path, model.joint_names), **options)
    return time.perf_counter() - start, time.process_time() - used, result


def speed(folder, hours, kind):
    """Print the speed on one core, and the memory of this process."""
    path = bag(folder, kind, hours)
    command = [
        sys.executable,
        __file__,
        "one",
        "--folder",
        str(folder),
        "--hours",
        str(hours),
        "--kind",
        kind,
    ]
    one_core = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run(["taskset", "-c", "0", *command], check=True, env=os.environ | one_core)
    return path


def one(folder, hours, kind):
    """One analysis in this process."""
    seconds, used, result = timed(bag(folder, kind, hours))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    percent = [f"{joint.percent[-1]:.1f}" for joint in joint_figures(result)]
    print(
        f"figure: analyze {hours:g} h {kind}, {result.totals.samples} samples, one core: "
        f"{seconds:.1f} s, of which {used:.1f} s its own: {hours * 3600 / seconds:.0f} and "
        f"{hours * 3600 / used:.0f} x real time; memory {peak:.0f} MB; residual % {percent}"
    )


def model_alone():
    """Print states per second of the model, 6 joints, one core."""
    model, random = arm(6), np.random.default_rng(0)
    q, v, a = random.normal(size=(3, 100_000, 6))
    out, locked = np.empty_like(q), model.with_coupling("none")
    sides = {
        "complete model and links alone: torques of all three models": lambda: [
            gd.inverse_dynamics(each, q, v, a, out=out) for each in (model, locked)
        ],
        "complete model": lambda: gd.inverse_dynamics(model, q, v, a, out=out),
        "all seven terms": lambda: predicted(model, q, v, a),
    }
    best = dict.fromkeys(sides, np.inf)
    for _ in range(12):
        for name, call in sides.items():
            start = time.perf_counter()
            call()
            best[name] = min(best[name], time.perf_counter() - start)
    for name, seconds in best.items():
        print(
            f"figure: {name}, 6 joints: {len(q) / seconds / 1e6:.2f} million states/s on one core"
        )


def reading(folder, hours):
    """Print the time per message of our decoder and of the bag library's."""
    from rosbags.typesys import Stores, get_typestore

    from geared_dynamics.recordings.bag import open_bag

    path, store = bag(folder, "db3", hours), get_typestore(Stores.ROS2_JAZZY)
    recording, container = open_recording(path, arm().joint_names), open_bag(path)
    best = {"ours, file to arrays": np.inf, "library, bytes to message": np.inf}
    for piece in range(min(8, recording.reader.pieces)):
        start = time.perf_counter()
        count = len(recording.reader.read(piece).stamp)
        middle = time.perf_counter()
        messages = container.read("/joint_states", piece).messages
        before = time.perf_counter()
        for message in messages:
            store.deserialize_cdr(message, "sensor_msgs/msg/JointState")
        spent = (middle - start, time.perf_counter() - before)
        best = {
            key: min(old, new / count) for (key, old), new in zip(best.items(), spent, strict=True)
        }
    for name, seconds in best.items():
        print(f"figure: reading, {name}: {1e6 * seconds:.2f} us per message of {JOINTS} joints")


def warmed(path):
    """Load and compile all that an analysis needs, in a worker."""
    analyze(arm(), open_recording(path, [f"joint_{k}" for k in range(1, JOINTS + 1)]))


def dask_workers(folder, hours, kind):
    """Print the time of one and of two Dask workers, and whether the totals are the same."""
    from distributed import Client, LocalCluster

    path, short = bag(folder, kind, hours), bag(folder, kind, 0.01)
    *_, alone = timed(path)
    seconds, shares = {1: [], 2: []}, {}
    for _ in range(2):
        for workers in seconds:
            with LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=None
            ) as cluster:
                address = cluster.scheduler_address
                with Client(address) as client:
                    client.run(warmed, str(short))
                    before = sum(client.run(time.process_time).values())
                    taken, own, result = timed(path, scheduler=address)
                    theirs = sum(client.run(time.process_time).values()) - before
                # On a machine that does nothing else, the two halves of the work run side by side.
                shares[workers] = own + theirs / workers
                seconds[workers].append(taken)
                same = all(
                    np.array_equal(x, y) for x, y in zip(alone.totals, result.totals, strict=True)
                )
                print(f"figure: Dask, {workers} worker(s): {taken:.1f} s, same totals: {same}")
    print(f"figure: two workers over one: {min(seconds[1]) / min(seconds[2]):.2f} x by the clock")
    print(f"figure: by processor time, client + share of a worker: {shares[1] / shares[2]:.2f} x")


def main():
    """Run what is asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "what",
        choices=["speed", "one", "dask", "model", "reading", "all"],
        nargs="?",
        default="all",
    )
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--kind", choices=["db3", "mcap"], default="db3")
    parser.add_argument("--folder", type=Path)
    args = parser.parse_args()
    folder = args.folder or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    if args.what == "one":
        one(folder, args.hours, args.kind)
    if args.what in ("model", "all"):
        model_alone()
    if args.what in ("reading", "all"):
        reading(folder, min(args.hours, 0.1))
    if args.what in ("speed", "all"):
        speed(folder, args.hours, args.kind)
    if args.what in ("dask", "all"):
        dask_workers(folder, args.hours, args.kind)
    if args.folder is None:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
