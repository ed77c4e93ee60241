"""What a figure was measured on."""

import os
import platform
from pathlib import Path
from typing import Any

import torch
import torch_geometric

from rcexplainer import __version__


def machine(device: str) -> dict[str, Any]:
    """Processor, device, threads and versions.

    Args:
        device: Where the benchmark computes.
    """
    on_card = torch.device(device).type == "cuda"
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "device": torch.cuda.get_device_name(device) if on_card else "cpu",
        "python": platform.python_version(),
        "torch": torch.__version__,
        "torch_geometric": torch_geometric.__version__,
        "rcexplainer": __version__,
    }


def _processor() -> str:
    """The processor's name where the system tells it."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
