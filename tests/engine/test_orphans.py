"""The processes of a pool end with the one that started them, however it ended."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

DRIVER = """
from rcexplainer.engine.process_pool import ProcessPool
from tests.engine.test_orphans import told
if __name__ == "__main__":
    for found in ProcessPool(told, 2, "os").outcomes(list(range(1000))):
        print(*found, flush=True)
"""


def told(number: int) -> int:
    time.sleep(0.2)
    return os.getpid()


def started(code: str, folder: Path, **environment: str) -> "subprocess.Popen[str]":
    """A driver in a process, and a group of processes, of its own."""
    script, root = folder / "driver.py", Path(__file__).parents[2]
    script.write_text(code, encoding="utf-8")
    paths = os.pathsep.join([str(root), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, script],
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": paths, **environment},
        cwd=root,
        start_new_session=True,
    )


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
def test_no_process_outlives_a_killed_driver(tmp_path):
    with started(DRIVER, tmp_path) as driver:
        assert driver.stdout is not None
        workers = {int(driver.stdout.readline().split()[1]) for _ in range(6)}
        driver.kill()
    assert len(workers) == 2
    until = time.time() + 10
    while any(map(_alive, workers)) and time.time() < until:
        time.sleep(0.05)
    assert not [one for one in workers if _alive(one)]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="this system has no groups of processes")
def test_no_task_begins_after_ctrl_c(tmp_path):
    begun = tmp_path / "begun"
    begun.mkdir()
    with started(DRIVER.replace("told", "marked").replace("1000", "100"), tmp_path, BEGUN=str(begun)) as driver:
        assert driver.stdout is not None
        for _ in range(4):
            driver.stdout.readline()
        os.killpg(driver.pid, signal.SIGINT)  # as a terminal does: the workers get it, too
        driver.communicate(timeout=60)
    assert len(list(begun.iterdir())) < 20


def marked(number: int) -> int:
    (Path(os.environ["BEGUN"]) / str(number)).touch()
    return told(number)


def _alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
