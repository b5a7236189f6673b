"""The harness itself: nodes talk, a dead one is reported, nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from feedforward_rig import Rig
from ros_harness import Graph, Processes

HERE = Path(__file__).resolve().parent
ECHO = ("-m", "geared_dynamics.ros.echo")
IDLE = "import signal\nprint('ready', flush=True)\nwhile True: signal.sigtimedwait([], 0.05)\n"


def is_alive(pid: int) -> bool:
    """Tell whether a process still runs; an ended one that nobody has waited for does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return not status.stdout.startswith("Z")


def test_two_nodes_echo_joint_states(processes: Processes, graph: Graph) -> None:
    from sensor_msgs.msg import JointState

    echo = [
        processes.start(*ECHO, "--ros-args", "-r", f"__ns:=/{name}", name=f"echo_{name}")
        for name in ("left", "right")
    ]
    for name in ("left", "right"):
        publisher = graph.publisher(f"/{name}/joint_states", JointState)
        inbox = graph.listen(f"/{name}/echo/joint_command", JointState)
        graph.wait_for_subscribers(publisher)
        sent = JointState(name=[name], position=[0.25], velocity=[-1.0], effort=[3.0])
        graph.publish_until(publisher, sent, lambda box=inbox: box.count, "an echo")
        assert inbox.last == sent
    assert [process.stop() for process in echo] == [0, 0]


def test_messages_check_their_fields(ros_domain: int, processes: Processes) -> None:
    """A wrong type must fail in the tests, here and in the processes."""
    from sensor_msgs.msg import JointState

    with pytest.raises(AssertionError):
        JointState().position = ["one"]
    code = "from sensor_msgs.msg import JointState; JointState().position = ['one']"
    assert processes.start("-c", code).wait() == 1


def test_a_node_that_dies_is_reported(ros_domain: int, tmp_path: Path) -> None:
    own = Processes({}, tmp_path)
    graph = Graph(ros_domain, own)
    own.start("-c", "raise SystemExit('no motor in the file')", name="failing")
    with pytest.raises(AssertionError, match=r"failing .*exit code 1.*\n.*no motor in the file"):
        graph.until(lambda: False, "nothing")
    with pytest.raises(AssertionError, match="died unasked: failing"):
        own.clear()
    graph.close()


def test_a_wait_in_vain_shows_what_the_processes_said(
    ros_domain: int, processes: Processes
) -> None:
    script = processes.folder / "idle.py"
    script.write_text(IDLE, encoding="utf-8")
    idle = processes.start(script)
    graph = Graph(ros_domain, processes)
    graph.until(lambda: "ready" in idle.output, "its first word")
    with pytest.raises(AssertionError, match=r"(?s)in vain for spring.*idle .*running.*ready"):
        graph.until(lambda: False, "spring", timeout=0.05)
    graph.close()


@pytest.mark.parametrize("deaf", [False, True])
def test_nothing_is_left_after_a_test(tmp_path: Path, ros_domain: int, deaf: bool) -> None:
    """Neither the process nor its child, even if both ignore the interrupt."""
    child = f"import subprocess, sys\nchild = subprocess.Popen([sys.executable, '-c', {IDLE!r}])\n"
    ignore = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n" if deaf else ""
    code = f"{ignore}{child}print('child', child.pid, flush=True)\nchild.wait()\n"
    own = Processes({}, tmp_path)
    parent = own.start("-c", code, name="parent")
    graph = Graph(ros_domain, own)
    graph.until(lambda: "child" in parent.output and "ready" in parent.output, "both")
    graph.close()
    pid = int(parent.output.split("child")[1].split()[0])
    own.clear(grace=0.2 if deaf else 10.0)
    assert not parent.running
    deadline = time.monotonic() + 10.0
    while is_alive(pid):  # the kernel takes a moment
        assert time.monotonic() < deadline, "the child is left behind"


def test_an_interrupted_echo_ends_by_itself(processes: Processes, graph: Graph) -> None:
    own = "/interrupted"  # an echo that was killed may still be on the graph
    echo = processes.start(*ECHO, "--ros-args", "-r", f"__node:={own[1:]}")
    graph.until(lambda: own in nodes(graph), "the node echo")
    echo.signal(signal.SIGINT)
    assert echo.wait() == 0, echo.report()
    graph.until(lambda: own not in nodes(graph), "the node to have left the graph")
    assert sys.executable in echo.command


def nodes(graph: Graph) -> list[str]:
    """Full names of all nodes on the graph."""
    pairs = graph.node.get_node_names_and_namespaces()
    return [f"{space.rstrip('/')}/{name}" for name, space in pairs]


KILLED = """
import os, signal, sys
from pathlib import Path
from ros_harness import Processes
run = Processes({}, Path(sys.argv[1])).start("-c", sys.argv[2], name="parent")
while not ("ready" in run.output and "child" in run.output): pass
print(run.output, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_test_run_leaves_nothing_behind(tmp_path: Path) -> None:
    """Neither the process nor its child, though the run that would end them is gone."""
    script = tmp_path / "idle.py"
    script.write_text(IDLE, encoding="utf-8")
    code = (
        "import subprocess, sys\n"
        f"child = subprocess.Popen([sys.executable, {str(script)!r}])\n"
        "print('child', child.pid, flush=True)\nchild.wait()\n"
    )
    paths = os.pathsep.join([str(HERE.parent), str(HERE.parents[1])])
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), code],
        env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    child = int(killed.stdout.split("child")[1].split()[0])
    deadline = time.monotonic() + 10.0
    while is_alive(child):
        assert time.monotonic() < deadline, "the child is left behind"


STALLED = """
from pathlib import Path
def test_stalls(ros_domain):
    with Path("count").open("a") as file: file.write("x")
    assert Path("count").read_text() == "xx"
"""


@pytest.mark.parametrize("others", [False, True])
def test_only_tests_between_processes_get_a_second_try(tmp_path: Path, others: bool) -> None:
    (tmp_path / "ros").mkdir()
    for folder, target in ((HERE.parent, tmp_path), (HERE, tmp_path / "ros")):
        (target / "conftest.py").write_text((folder / "conftest.py").read_text("utf-8"), "utf-8")
    (tmp_path / "ros" / "test_stalled.py").write_text(STALLED, "utf-8")
    (tmp_path / "test_sum.py").write_text(f"def test_sum(): assert {not others}\n", "utf-8")
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "--rootdir", str(tmp_path)]
    paths = os.pathsep.join([str(HERE.parent), str(HERE.parents[1])])
    runs = [
        subprocess.run(
            [*words, *options, "."], cwd=tmp_path, env=os.environ | {"PYTHONPATH": paths},
            capture_output=True, text=True, check=False,
        )
        for options in ([], ["--last-failed", "--lfnf", "none", "--again", "-x"])
    ]  # fmt: skip
    assert [run.returncode for run in runs] == [1, int(others)], runs[1].stdout
    assert (tmp_path / "count").read_text("utf-8") == ("x" if others else "xx")
    assert ("test_sum.py::test_sum" in runs[1].stdout) == others


TELL = """
import os, signal, sys
stops = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGCHLD, signal.SIGPIPE)]
group, files = os.getpgid(0) == os.getsid(0) == os.getpid(), len(os.listdir("/proc/self/fd"))
folders = [os.getcwd(), *sys.path]
print(__name__, sys.argv, group, files, stops, os.environ["ROS_DOMAIN_ID"], folders)
print(sys.stdin.read(), sys.stdout.line_buffering, sys.stdout.write_through, file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("end", "code"),
    [
        ("", 0),
        ("import atexit; atexit.register(print, 'at the end')", 0),
        ("sys.exit(3)", 3),
        ("sys.exit('words')", 1),
        ("1 / 0", 1),
        ("raise KeyboardInterrupt", -signal.SIGINT),
        ("os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
        ("import threading; threading.Thread(target=lambda: print('thread')).start()", 0),
    ],
)
def test_a_fork_is_as_a_process_of_its_own(processes: Processes, end: str, code: int) -> None:
    """Its arguments, signals, files, folders, output and end."""
    words = ("-c", f"{TELL}\n{end}", "--some", "thing")
    fork, own = (processes.start(*words, fork=fork) for fork in (True, False))
    assert (fork.wait(), own.wait()) == (code, code)
    assert fork.output.splitlines()[:2] == own.output.splitlines()[:2]
    assert fork.output.splitlines()[-1] == own.output.splitlines()[-1]
    assert "--some" in fork.output
    assert "True" in fork.output


def test_a_fork_has_compiled_kernels_already_but_no_node(processes: Processes) -> None:
    code = (
        "import sys; print('geared_dynamics.kernels.inverse' in sys.modules,"
        " [name for name in sys.modules if name.startswith('geared_dynamics.ros')])"
    )
    told = []
    for fork in (True, False):
        process = processes.start("-c", code, fork=fork)
        assert process.wait() == 0
        told.append(process.output.strip())
    assert told == ["True []", "False []"]


def test_a_rig_that_starts_again_ends_its_node_first(processes: Processes, graph: Graph) -> None:
    """As where a module's fixture has failed and is set up once more."""
    rig = Rig(graph, processes)
    first = rig.start()
    graph.until(lambda: rig.said("configured"), "the first node")
    rig.start()
    assert not first.running
    graph.until(lambda: rig.said("configured"), "the second node")
