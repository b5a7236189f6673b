"""Recordings to comparison, identification, figures and reports."""

from geared_dynamics.analysis.analysis_files import (
    SamplesFile,
    TorqueBag,
    write_motors,
    write_png,
    write_summary,
)
from geared_dynamics.analysis.compare import Analysis, analyze
from geared_dynamics.analysis.comparison_numbers import joint_figures, motor_figures
from geared_dynamics.analysis.comparison_report import write_html
from geared_dynamics.analysis.coupling_gap import coupling_parts, unabsorbed_share
from geared_dynamics.analysis.excitation import Excitation, excite
from geared_dynamics.analysis.identification import Identified, identify
from geared_dynamics.analysis.identification_equations import (
    Equations,
    drive_gains_from_load,
    equations,
)
from geared_dynamics.analysis.identification_report import write_identification
from geared_dynamics.analysis.identification_results import payload, written
from geared_dynamics.analysis.identification_rows import Settings
from geared_dynamics.analysis.parameter_columns import base_columns, column_names, columns
from geared_dynamics.analysis.physical import physical_parameters
from geared_dynamics.analysis.verdict import Judgement, judged
from geared_dynamics.recordings.motions import Meaning, recorded_joints
from geared_dynamics.recordings.recording import Recording, open_recording, recording_from_arrays

__all__ = [
    "Analysis",
    "Equations",
    "Excitation",
    "Identified",
    "Judgement",
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
    "judged",
    "motor_figures",
    "open_recording",
    "payload",
    "physical_parameters",
    "recorded_joints",
    "recording_from_arrays",
    "unabsorbed_share",
    "write_html",
    "write_identification",
    "write_motors",
    "write_png",
    "write_summary",
    "written",
]
