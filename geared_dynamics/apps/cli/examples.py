"""Command lines that ``--help`` shows below the options; ``arm.urdf`` is the user's own."""

from __future__ import annotations

ARM = "arm.urdf arm.drivetrain.yaml"

EXAMPLES = {
    "demo": ("", "elbow --out elbow_demo", f"{ARM} --engine equations"),
    "init": (
        "arm.urdf",
        "arm.urdf --ratio 100 --rotor-inertia 1e-4",
        "arm.urdf --ratio joint_1=120 joint_2=-80 --out drives.yaml",
    ),
    "check": (ARM, "arm.urdf", f"{ARM} --lock finger=0.02 --states 1000 --json"),
    "describe": (ARM, f"{ARM} --graph gears.svg", f"{ARM} --json"),
    "view": (ARM, f"{ARM} --out arm.html", f"{ARM} --demo --out arm.gif"),
    "export": (
        f"{ARM} --mjcf arm.xml",
        f"{ARM} --c -o arm_c",
        f"{ARM} --c -o arm_c --float --functions inverse_dynamics gravity_forces",
    ),
    "coupling": (ARM, f"{ARM} run.mcap", f"{ARM} --states 10000 --json"),
    "analyze": (
        f"run.mcap {ARM} --output report",
        f"run.csv {ARM} --effort motor_current --degrees --columns effort=i_{{joint}}",
        f"monday.mcap tuesday.mcap {ARM} --payload 2.1 0 0 0.08 --skip-rest",
    ),
    "identify": (
        f"run.mcap {ARM} --output identified",
        f"run.mcap {ARM} --validate other.mcap --known 'link_*'",
        f"run.mcap {ARM} --effort motor_current --loaded with_load.mcap --payload 2.1 0 0 0.08",
    ),
    "excite": (
        f"{ARM} --output motion.yaml",
        f"{ARM} --output motion.yaml --duration 30 --acceleration 8 --repeat 2",
        f"{ARM} --output motion.yaml --bag motion",
    ),
    "loop-benchmark": ("", f"{ARM} --rate 500 --duration 20", "--node observer --check --json"),
    "warm-up": ("", "--json", "--json > kernels.json"),
    "compile": (
        f"{ARM}",
        f"{ARM} --functions inverse_dynamics inverse_dynamics_derivatives",
        f"{ARM} --batches --json",
    ),
    "completion": ("bash", "zsh", "fish > ~/.config/fish/completions/geared-dynamics.fish"),
    "tune-observer": (
        f"run.mcap {ARM}",
        f"run.mcap {ARM} --resolution 4.8e-5 --force-bandwidth 20",
        f"run.mcap {ARM} --noise 2e-5 --json",
    ),
}


def epilog(command: str) -> str:
    """The end of a command's help."""
    lines = (f"  geared-dynamics {command} {words}".rstrip() for words in EXAMPLES[command])
    return "\n".join(["examples:", *lines])
