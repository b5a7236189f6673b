"""Build script of the ament_python package, for colcon and for pip.

The metadata stands here and not in pyproject.toml: colcon reads setup.py, and
a [project] table would make setuptools ignore it.
"""

import re
import sys
from pathlib import Path

from setuptools import find_packages, setup

NAME = "geared_dynamics"
ROOT = Path(__file__).resolve().parent

# Rebuilt ROS 2 libraries from PyPI exist for this platform only; elsewhere the
# extra is empty and ROS comes from the system.
ROS_WHEELS = (
    "sys_platform == 'linux' and platform_machine == 'x86_64'"
    " and implementation_name == 'cpython' and python_version < '3.14'"
)
ROS = [
    "ros-jazzy-rclpy[fastrtps]",
    "ros-jazzy-sensor-msgs",
    "ros-jazzy-trajectory-msgs",
    "ros-jazzy-std-msgs",
    "ros-jazzy-geometry-msgs",
    "ros-jazzy-diagnostic-msgs",
    "ros-jazzy-std-srvs",
    "ros-jazzy-lifecycle-msgs",
]

CORE = [
    "numpy>=1.26",
    "numba>=0.57",
    "pyyaml",
    "jsonschema>=4.0",
    "lxml",
    "urdf-parser-py",
    "rich",
]
TESTING = [
    "pytest>=7.4",
    "pytest-xdist",
    "pytest-timeout",
    "hypothesis>=6.80",
    "sympy",
    "scipy",
]
COMPLETION = ["argcomplete>=3.0"]
TOOLS = [
    *TESTING,
    *COMPLETION,
    "ruff>=0.14.1",
    "mypy>=1.10",
    "import-linter>=2.0",
    "lxml-stubs",
    "types-jsonschema",
    "types-PyYAML",
]
ANALYSIS = [
    "pin>=3.0",
    "matplotlib",
    "scipy",
    "plotly",
    "rosbags>=0.10",
    "lz4",
    "clarabel",
    "dask",
    "distributed",
]
SIM = ["mujoco>=3.3", "pillow"]
# In no other extra: viser keeps rich below 15 and websockets below 17.
VIEW = ["viser>=1.1,<2", "pycollada"]
DEMO = ["rosbags>=0.10", "plotly"]
ROBOTS = ["example-robot-data"]
CASADI = ["casadi>=3.6"]
CROCODDYL = ["crocoddyl>=3.0"]
DOCS = ["sphinx>=8.0", "myst-parser>=4.0", "furo", "sphinx-gallery>=0.22"]


def version() -> str:
    """Return the version, which stands in ``geared_dynamics/__init__.py`` only."""
    text = (ROOT / NAME / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)
    if found is None:
        raise SystemExit(f'{NAME}/__init__.py: no line __version__ = "..."')
    return found.group(1)


def share(folder: str) -> list[tuple[str, list[str]]]:
    """Return the data_files entries that install a folder under share/."""
    found = sorted((ROOT / folder).rglob("*"))
    files = [p.relative_to(ROOT) for p in found if p.is_file() and p.suffix != ".pyc"]
    parents = sorted({p.parent for p in files})
    return [
        (f"share/{NAME}/{parent.as_posix()}", [f.as_posix() for f in files if f.parent == parent])
        for parent in parents
    ]


def executables() -> list[tuple[str, list[str]]]:
    """Return the data_files entry for the programs where ROS looks for them.

    In a wheel only: pip puts console scripts into ``bin/`` and heeds no setup.cfg, colcon
    puts them into ``lib/<package>/`` itself.
    """
    if "bdist_wheel" not in sys.argv:
        return []
    files = sorted((ROOT / "resource" / "lib").iterdir())
    return [(f"lib/{NAME}", [file.relative_to(ROOT).as_posix() for file in files])]


setup(
    name=NAME,
    version=version(),
    description="Exact dynamics of geared robot arms: every spinning wheel of the drive counted; "
    "ROS 2 nodes for Jazzy and Kilted",
    long_description=(ROOT / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    author="geared_dynamics maintainers",
    maintainer="geared_dynamics maintainers",
    maintainer_email="maintainers@geared-dynamics.example",
    license="Apache-2.0",
    classifiers=[
        "Intended Audience :: Science/Research",
        "Programming Language :: Python :: 3",
        "Topic :: Scientific/Engineering :: Physics",
        "Typing :: Typed",
    ],
    python_requires=">=3.10",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    package_data={
        NAME: ["py.typed"],
        f"{NAME}.analysis": ["*.html"],
        f"{NAME}.apps.cli": ["*.json"],
        f"{NAME}.description": ["*.json"],
        f"{NAME}.scene": ["*.html"],
    },
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        *share("config"),
        *share("launch"),
        *share("policies"),
        *share("recordings"),
        *share("urdf"),
        *executables(),
    ],
    install_requires=CORE,
    extras_require={
        "ros": [f"{name}; {ROS_WHEELS}" for name in ROS] + ["xacro"],
        "sim": SIM,
        "analysis": ANALYSIS,
        "robots": ROBOTS,
        "casadi": CASADI,
        "crocoddyl": CROCODDYL,
        "demo": DEMO,
        "view": VIEW,
        "completion": COMPLETION,
        "testing": TESTING,
        "tools": TOOLS,
        "docs": DOCS,
        "test": [*TOOLS, *ANALYSIS, *SIM, *DEMO, *ROBOTS],
    },
    entry_points={
        "console_scripts": [
            "geared-dynamics = geared_dynamics.apps.cli.main:main",
            "feedforward_node = geared_dynamics.ros.feedforward_node:main",
            "plant_node = geared_dynamics.ros.plant_node:main",
            "publish_trajectory = geared_dynamics.ros.publish_trajectory:main",
            "elastic_observer_node = geared_dynamics.ros.elastic_observer_node:main",
        ]
    },
    zip_safe=False,  # numba keeps its cache beside the sources
)
