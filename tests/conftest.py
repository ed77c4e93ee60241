"""Properties are checked on the same examples in every run, so that a commit is judged by what it changes.

New examples: HYPOTHESIS_PROFILE=explore make test
"""

import os

from hypothesis import settings

settings.register_profile("fixed", derandomize=True)
settings.register_profile("explore", derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
