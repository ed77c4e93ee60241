"""Properties are checked on the same examples in every run, so that a commit is judged by what it changes.

New examples: HYPOTHESIS_PROFILE=explore make test

Torch has one thread: the networks here are small, and several threads wait for each other on a busy machine.
"""

import os

import torch
from hypothesis import settings

torch.set_num_threads(1)
settings.register_profile("fixed", derandomize=True)
settings.register_profile("explore", derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
