"""The elbow arm of Sciavicco, Siciliano, Villani: π₁ to π₉, b₁₂, b₁₃
==================================================================

Section 7 of the paper gives the mass matrix of the arm in nine parameters. Rotor 2 turns about y₁
and rotor 3 about x₂, so neither axis is parallel to the joint that the rotor drives: their
accelerations act on joint 1 through b₁₂ and b₁₃, which the armature model leaves out. Run it with
a folder for the picture, default figures/ beside it.
"""

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")  # pictures go to files, with or without a display

import numpy as np
from matplotlib import pyplot as plt

import geared_dynamics as gd

URDF = Path(__file__).parents[1] / "urdf"
FIGURES = Path(__file__).parent / "figures"
A2 = 0.45  # length of the upper arm [m]
KR1, KR2, KR3 = 120.0, 100.0, 80.0  # gear ratios


def base_parameters(model: gd.GearedModel) -> np.ndarray:
    """Compute π₁ to π₉ of the paper from the model's 33 parameters."""
    p = dict(zip(gd.parameter_names(model), gd.parameters(model), strict=True))
    far = A2**2 * p["link_3.m"]  # mass of link 3 at the end of link 2
    return np.array(
        [
            p["link_1.Iyy"] + p["link_2.Iyy"] + p["link_3.Iyy"] + far + KR1**2 * p["rotor_1.J"],
            p["link_2.mcx"] + A2 * p["link_3.m"],
            p["link_2.Ixx"] - p["link_2.Iyy"] - far,
            p["link_2.Izz"] + KR2**2 * p["rotor_2.J"] + far,
            p["link_3.Ixx"] - p["link_3.Iyy"],
            p["link_3.mcx"],
            p["link_3.Izz"],
            p["rotor_2.J"],
            p["rotor_3.J"],
        ]
    )


def printed_mass_matrix(q: np.ndarray, pi: np.ndarray) -> np.ndarray:
    """Compute B(q) as the paper prints it."""
    p1, _, p3, p4, p5, p6, p7, p8, p9 = pi
    s2, c2, c3 = np.sin(q[1]), np.cos(q[1]), np.cos(q[2])
    s23, c23 = np.sin(q[1] + q[2]), np.cos(q[1] + q[2])
    b11 = p1 + s2**2 * p3 + s23**2 * p5 + 2 * A2 * c2 * c23 * p6
    b12, b13, b23 = KR2 * p8, KR3 * s2 * p9, A2 * c3 * p6 + p7
    b22, b33 = p4 + 2 * A2 * c3 * p6 + p7, p7 + KR3**2 * p9
    return np.array([[b11, b12, b13], [b12, b22, b23], [b13, b23, b33]])


def picture(model: gd.GearedModel, folder: Path) -> Path:
    """Draw b₁₂ and b₁₃ over q₂, and the torque on joint 1 that the armature model omits."""
    armature = model.with_coupling("diagonal")
    q2 = np.linspace(-np.pi, np.pi, 181)
    q = np.stack([np.zeros(181), q2, np.zeros(181)], axis=1)
    M = gd.mass_matrix(model, q)
    t = np.linspace(0.0, 1.0, 401)
    end = np.array([1.0, 1.2, -1.5])  # [rad]
    move = gd.trajectory.rest_to_rest(np.zeros(3), end, 1.0, continuous=2)
    states = np.array([move.derivatives(time, 2) for time in t]).transpose(1, 0, 2)
    omitted = gd.inverse_dynamics(model, *states) - gd.inverse_dynamics(armature, *states)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    left.plot(np.rad2deg(q2), 1e3 * M[:, 0, 1], label="b₁₂ = k_r2 π₈")
    left.plot(np.rad2deg(q2), 1e3 * M[:, 0, 2], label="b₁₃ = k_r3 sin(q₂) π₉")
    left.set_title("Rotors in row 1 of B [10⁻³ kg m²]")
    left.set_xlabel("q₂ [deg]")
    for joint in range(3):
        right.plot(t, omitted[:, joint], label=f"joint {joint + 1}")
    right.set_title("Torque that the armature model omits [N m]")
    right.set_xlabel("time [s]")
    for ax in (left, right):
        ax.grid(alpha=0.3)
        ax.legend(fontsize="small")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "elbow_equations.png"
    figure.savefig(path, dpi=130)
    plt.close(figure)
    return path


def main() -> None:
    """Print π, b₁₂, b₁₃ and their effect; save the picture."""
    model = gd.load_model(URDF / "elbow.urdf", URDF / "elbow.drivetrain.yaml")
    pi = base_parameters(model)
    print("base parameters of section 7")
    for k, value in enumerate(pi, start=1):
        unit = "kg m" if k in (2, 6) else "kg m^2"
        print(f"  pi_{k} = {value:9.6f} {unit}")

    q = np.array([0.3, 0.7, -0.4])  # [rad]
    M, B = gd.mass_matrix(model, q), printed_mass_matrix(q, pi)
    print(f"at q = {q} rad")
    print(f"  b_12 = {M[0, 1]:.6f} kg m^2, paper: k_r2 pi_8      = {B[0, 1]:.6f}")
    print(f"  b_13 = {M[0, 2]:.6f} kg m^2, paper: k_r3 s_2 pi_9  = {B[0, 2]:.6f}")
    armature = gd.mass_matrix(model.with_coupling("diagonal"), q)
    print(f"  armature model: b_12 = {abs(armature[0, 1]):.6f}, b_13 = {abs(armature[0, 2]):.6f}")
    print(f"  all nine elements of B agree: {np.allclose(M, B, rtol=1e-12, atol=1e-15)}")

    zero = [n for n in gd.parameter_names(model) if n.endswith(("Ixy", "Ixz", "Iyz"))]
    zero += [f"link_{i}.mc{axis}" for i in (2, 3) for axis in "yz"]
    base = gd.base_parameters(model, zero=zero)
    print(f"identifiable combinations with the zeros of section 7: {base.rank}")
    for name in base.names:
        print("  ", name)
    print("saved", picture(model, Path(sys.argv[1]) if len(sys.argv) > 1 else FIGURES))


if __name__ == "__main__":
    main()
