"""Install this package and its extras into the running environment, with uv or with pip.

    python tools/install.py [--with REQUIREMENT ...] EXTRA ... [--optional EXTRA ...]

The package, the extras named first and the ``--with`` requirements must install.
The optional ones are tried with them in one go, which is quickest; if that
fails, one after the other. What had to be left out is printed with the reason. uv fetches many
packages at a time and is several times quicker; pip does what uv cannot.
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
WHEELS_ONLY = (
    *("numpy", "scipy", "numba", "llvmlite", "lxml", "mujoco"),
    *("pin", "libpinocchio", "coal", "libcoal", "eigenpy"),
)


def main() -> int:
    """Install, report, and return the exit status of the required part."""
    arguments = parse(sys.argv[1:])
    required, optional = arguments.extras, arguments.optional
    together = install([*required, *optional], arguments.requirements)
    reasons: dict[str, str] = {}
    if together.returncode and optional:
        print("not everything installs here; trying the optional parts one at a time", flush=True)
        together = install(required, arguments.requirements)
        for extra in optional if together.returncode == 0 else ():
            attempt = install([extra], arguments.requirements)
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


def install(extras: list[str], requirements: list[str]) -> subprocess.CompletedProcess[str]:
    """Install the package, editable, with these extras; return how the last attempt ended."""
    target = f"{ROOT}[{','.join(extras)}]" if extras else str(ROOT)
    print(f"installing {', '.join([DISTRIBUTION, *extras, *requirements])}", flush=True)
    pip = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
    uv = [sys.executable, "-m", "uv", "pip", "install", "--python", sys.executable]
    commands = [uv] if uv_serves(pip) else []
    for command in (*commands, pip):
        quiet = [] if sys.stdout.isatty() else ["--quiet"]  # on a terminal it shows how far it is
        wheels = [word for name in WHEELS_ONLY for word in ("--only-binary", name)]
        whole = [*command, *quiet, *wheels, "--editable", target, *requirements]
        ended = subprocess.run(whole, stderr=subprocess.PIPE, text=True, check=False)
        if ended.returncode == 0:
            break
    return ended


def uv_serves(pip: list[str]) -> bool:
    """Tell whether uv can be had and would fetch from where pip does.

    It reads none of pip's settings: where they name an index, pip installs.
    """
    settings = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"],
        capture_output=True,
        text=True,
        check=False,
    )
    if settings.returncode or re.search(r"\.(index-url|no-index)=", settings.stdout):
        return False
    return (
        subprocess.run([*pip, "--quiet", "uv"], capture_output=True, check=False).returncode == 0
    )


def last_error(text: str) -> str:
    """Return the installer's last line of error."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return (errors or lines or ["no reason was given"])[-1]


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
