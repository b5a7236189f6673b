"""Recordings to comparison, identification, figures and reports."""

from geared_dynamics.analysis.comparison.analyze import Analysis, analyze
from geared_dynamics.analysis.comparison.coupling import coupling_parts, unabsorbed_share
from geared_dynamics.analysis.comparison.figures import joint_figures, motor_figures
from geared_dynamics.analysis.excitation.excite import Excitation, excite
from geared_dynamics.analysis.identification.columns import base_columns, column_names, columns
from geared_dynamics.analysis.identification.equations import Equations, Settings, equations
from geared_dynamics.analysis.identification.gains import drive_gains_from_load
from geared_dynamics.analysis.identification.identify import Identified, identify
from geared_dynamics.analysis.identification.payload import payload
from geared_dynamics.analysis.identification.physical import physical_parameters
from geared_dynamics.analysis.identification.writing import written
from geared_dynamics.analysis.reading.meaning import Meaning, recorded_joints
from geared_dynamics.analysis.reading.recording import (
    Recording,
    open_recording,
    recording_from_arrays,
)
from geared_dynamics.analysis.report.bag_file import TorqueBag
from geared_dynamics.analysis.report.html import write_html
from geared_dynamics.analysis.report.png import write_png
from geared_dynamics.analysis.report.tables import SamplesFile, write_motors, write_summary

__all__ = [
    "Analysis",
    "Equations",
    "Excitation",
    "Identified",
    "Meaning",
    "Recording",
    "SamplesFile",
    "Settings",
    "TorqueBag",
    "analyze",
    "base_columns",
    "column_names",
    "columns",
    "coupling_parts",
    "drive_gains_from_load",
    "equations",
    "excite",
    "identify",
    "joint_figures",
    "motor_figures",
    "open_recording",
    "payload",
    "physical_parameters",
    "recorded_joints",
    "recording_from_arrays",
    "unabsorbed_share",
    "write_html",
    "write_motors",
    "write_png",
    "write_summary",
    "written",
]
