"""Install this package and its extras with pip into the running environment.

    python tools/install.py [--with REQUIREMENT ...] EXTRA ... [--optional EXTRA ...]

The package, the extras named first and the ``--with`` requirements must install.
The optional ones are tried with them in one go, which is quickest; if that
fails, one after the other. What had to be left out is printed with the reason.
"""

from __future__ import annotations

import argparse
import platform
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DISTRIBUTION = "geared_dynamics"
LEFT_OUT = Path(sys.prefix) / "left-out.txt"  # `make test` repeats it after the tests
# Never compile these from source: a machine without their wheels leaves them out.
WHEELS_ONLY = "numpy,scipy,numba,llvmlite,lxml,pin,libpinocchio,coal,libcoal,eigenpy,mujoco"


def main() -> int:
    """Install, report, and return pip's exit status for the required part."""
    arguments = parse(sys.argv[1:])
    required, optional = arguments.extras, arguments.optional
    together = pip_install([*required, *optional], arguments.requirements)
    reasons: dict[str, str] = {}
    if together.returncode and optional:
        print("not everything installs here; trying the optional parts one at a time", flush=True)
        together = pip_install(required, arguments.requirements)
        for extra in optional if together.returncode == 0 else ():
            attempt = pip_install([extra], arguments.requirements)
            if attempt.returncode:
                reasons[extra] = last_error(attempt.stderr)
    if together.returncode:
        print(together.stderr, file=sys.stderr)
        return together.returncode
    report(optional, reasons)
    return 0


def parse(argv: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="install geared_dynamics for development")
    parser.add_argument("extras", nargs="*", help="extras that must install")
    parser.add_argument("--optional", nargs="*", default=[], help="extras that may be left out")
    parser.add_argument(
        "--with",
        dest="requirements",
        action="append",
        default=[],
        help="a further requirement, such as numpy==1.26.*",
    )
    return parser.parse_args(argv)


def pip_install(extras: list[str], requirements: list[str]) -> subprocess.CompletedProcess[str]:
    """Run one pip install of the package, editable, with these extras."""
    target = f"{ROOT}[{','.join(extras)}]" if extras else str(ROOT)
    print(f"installing {', '.join([DISTRIBUTION, *extras, *requirements])}", flush=True)
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
    command += [] if sys.stdout.isatty() else ["--quiet"]  # on a terminal it shows how far it is
    command += ["--only-binary", WHEELS_ONLY, "--editable", target, *requirements]
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)


def last_error(text: str) -> str:
    """Return pip's last line of error."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return (errors or lines or ["pip gave no reason"])[-1]


def report(optional: list[str], reasons: dict[str, str]) -> None:
    """Print, and keep for later, one line for each optional extra that is not there."""
    here = f"{platform.python_implementation()} {platform.python_version()}"
    here += f" on {platform.system()} {platform.machine()}"
    print(f"installed for {here}", flush=True)
    lines = []
    for extra in optional:
        missing = [name for name in members(extra) if not is_installed(name)]
        if missing:
            names = ", ".join(missing[:2]) + (", ..." if len(missing) > 2 else "")
            reason = reasons.get(extra, "no wheels for this platform")
            lines.append(f"left out: {extra} ({names}): {reason}\n")
    print("".join(lines), end="", flush=True)
    if optional or not LEFT_OUT.exists():  # an extra added later leaves nothing out
        LEFT_OUT.write_text("".join(lines), encoding="utf-8")


def members(extra: str) -> list[str]:
    """Return the distributions that an extra of the installed package names."""
    lines = metadata.requires(DISTRIBUTION) or []
    mine = [line for line in lines if re.search(rf"extra == ['\"]{re.escape(extra)}['\"]", line)]
    return [match.group() for line in mine if (match := re.match(r"[\w.-]+", line))]


def is_installed(name: str) -> bool:
    """Tell whether a distribution is installed."""
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


if __name__ == "__main__":
    raise SystemExit(main())
