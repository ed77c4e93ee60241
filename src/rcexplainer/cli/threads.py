"""How many threads torch computes with.

The networks here are small: a second thread gains little on an idle machine, and where another program keeps a core
busy, the threads wait for each other at every step. So the default is one. Work on large tensors takes every core.
"""

import os
import sys

VARIABLE = "OMP_NUM_THREADS"
SMALL_WORK = 1


def use_threads(threads: int | None, default: int | None = SMALL_WORK) -> None:
    """Choose the number of threads of this process, and of the processes it starts.

    Called before torch is imported, which reads the environment variable when it is loaded.

    Args:
        threads: The user's choice, `--threads`. None: the value of `OMP_NUM_THREADS` where it is set, else `default`.
        default: What suits the work. None: torch's own choice, one thread for each core.
    """
    if threads is None and not os.environ.get(VARIABLE):
        threads = default
    if threads is None:
        return
    os.environ[VARIABLE] = str(threads)
    if (torch := sys.modules.get("torch")) is not None:
        torch.set_num_threads(threads)
