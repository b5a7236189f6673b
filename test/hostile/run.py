"""Opens cases in a process of bounded memory; a line of JSON for each: ``python -m hostile.run``.

Arguments: the family, ``read`` (samples by Python) or ``analyze`` (the command), and the number of
the case to begin with.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import re
import resource
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

import numpy as np

import geared_dynamics as gd
from geared_dynamics.apps.cli.main import main as command
from geared_dynamics.recordings.recording import open_recording
from geared_dynamics.recordings.samples import Tally
from hostile.cases import NAMES, Case, Cases, agreement

FAMILIES = ("mcap", "mcap_lengths", "sqlite", "payloads", "tables", "folders", "later")
MEMORY = 2**30  # bytes more than this process has without a recording
SECONDS = 5.0
LONGEST = 20_000  # characters of an error
ROBOT = Path(__file__).resolve().parents[2] / "urdf" / "elbow"


def cases_of(family: str, *, heavy: bool = False) -> Cases:
    """Cases of a family, or of all; the heavy ones too where they are asked for."""
    if family == "all":
        return {f"{one}: {name}": case for one in FAMILIES
                for name, case in cases_of(one, heavy=heavy).items()}  # fmt: skip
    every: Cases = importlib.import_module(f"hostile.{family}").CASES
    return {name: case for name, case in every.items() if heavy or not case.heavy}


def status(key: str) -> int:
    """Memory of this process [bytes] by its name in the kernel's table."""
    text = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(rf"{key}:\s+(\d+)", text)[1])  # type: ignore[index]


def read(case: Case, path: Path) -> str:
    """Open by Python and read everything; return what is wrong with the result."""
    try:
        found = open_recording(path, NAMES, **case.options)
        parts = [found.reader.read(k) for k in range(found.reader.pieces)]
    except gd.GearedDynamicsError as error:
        text = str(error)
        if len(text) > LONGEST:
            return f"an error of {len(text)} characters: {text[:200]}"
        if case.count is not None:
            return f"refused: {text[:500]}"
        said = re.search(case.says, text) and error.place and error.finding and error.remedy
        return "" if said else f"refused with other words: {text[:500]}"
    tally = Tally()
    for part in parts:
        tally = tally.plus(part.tally)
    report = "; ".join(found.notes(tally))
    columns = [np.concatenate([part[k] for part in parts]) for k in range(4)]
    good, odd = agreement(*columns)
    result = f"{good} good samples, {odd} odd ones, reported: {report[:500] or 'nothing'}"
    if case.count is None:
        return f"not refused: {result}"
    least, most = case.count if isinstance(case.count, tuple) else (case.count, case.count)
    right = least <= good <= most and odd == case.odd
    said = bool(re.search(case.says, report)) if case.says else not report
    if len(report) > LONGEST:
        return f"a report of {len(report)} characters"
    return "" if right and said else result


def analyse(case: Case, path: Path) -> str:
    """Run the command on it; return what is wrong with its answer."""
    words = ["analyze", str(path), "--robot", f"{ROBOT}.urdf"]
    words += ["--drivetrain", f"{ROBOT}.drivetrain.yaml", "--bandwidth", "20"]
    for name, value in case.options.items():
        words += [f"--{name}", str(value)]
    errors = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
        try:
            code = command(words)
        except SystemExit as end:  # a number that the command line itself refuses
            code = end.code
    text = errors.getvalue()
    if len(text) > LONGEST:
        return f"{len(text)} characters of errors"
    if code not in (0, 1, 2) or (code == 2 and not re.search("; |argument ", text)):
        return f"code {code}: {text[:500]}"
    return "" if code == 2 or case.count is not None else "not refused"


def outcome(family: str, name: str, case: Case, how: str) -> dict[str, object]:
    """Make a case, run it, and measure."""
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = case.make(Path(place))
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins again
        before, start = status("VmRSS"), time.perf_counter()
        Path(place).chmod(0o755)
        try:
            if case.nobody and os.geteuid() == 0:
                os.seteuid(65534)
            problem = (read if how == "read" else analyse)(case, path)
        except BaseException as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            place_of = f"{Path(where.filename).name}:{where.lineno}"
            problem = f"{type(error).__name__} at {place_of}: {str(error)[:300]}"
        finally:
            os.seteuid(os.getuid())
        seconds = time.perf_counter() - start
        memory = status("VmHWM") - before
    if seconds > SECONDS:
        problem += f" {seconds:.1f} s"
    if memory > MEMORY:
        problem += f" {memory >> 20} MB"
    return {"family": family, "name": name, "problem": problem,
            "seconds": round(seconds, 3), "megabytes": memory >> 20}  # fmt: skip


def main() -> None:
    """Run the cases of a family, from one on."""
    family, how, first = sys.argv[1], sys.argv[2], int(sys.argv[3])
    heavy = "heavy" in sys.argv[4:]
    only = [word for word in sys.argv[4:] if word != "heavy"]
    cases = cases_of(family, heavy=heavy)
    # Of data, not of addresses: a large file may be mapped.
    limit = status("VmData") + 2 * MEMORY
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    for name, case in list(cases.items())[first:]:
        if only and not any(word in name for word in only):
            continue
        print(json.dumps(outcome(family, name, case, how)), flush=True)


if __name__ == "__main__":
    main()
