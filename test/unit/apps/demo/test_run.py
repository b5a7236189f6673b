"""What nodes complained of."""

from __future__ import annotations

from pathlib import Path

from geared_dynamics.apps.cli.demo import complaints, write_parameters
from geared_dynamics.runtime.process_tasks import DemoTask, Run, read_demo_task, write_demo_task


def test_complaints_are_the_loud_lines_in_the_logs(tmp_path: Path) -> None:
    lines = (
        "[INFO] [1.0] [node]: running\n[ERROR] [2.0] [node]: holding: tracking error: joint 1\n"
    )
    (tmp_path / "0.log").write_text(lines, encoding="utf-8")
    (tmp_path / "1.log").write_text("[WARN] [3.0] [plant]: 0.2 s behind\n", encoding="utf-8")
    assert complaints(tmp_path) == ["holding: tracking error: joint 1", "0.2 s behind"]


def test_tasks_and_parameters_survive_their_files(tmp_path: Path) -> None:
    import yaml

    run = Run("complete", {"use_friction": True})
    task = DemoTask(
        ["j"], [0.0, 1.0], [[0.0], [1.0]], [[0.0]] * 2, [[0.0]] * 2, True, [run], "bag"
    )
    write_demo_task(task, tmp_path / "task.json")
    assert read_demo_task(tmp_path / "task.json") == task
    write_parameters(tmp_path / "p.yaml", "node", {"rate": 1000.0, "mode": "x", "on": True})
    found = yaml.safe_load((tmp_path / "p.yaml").read_text(encoding="utf-8"))
    assert found == {"node": {"ros__parameters": {"rate": 1000.0, "mode": "x", "on": True}}}
