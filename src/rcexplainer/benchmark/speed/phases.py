"""When the phases of a fit began, told by its progress bars, shown or not."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tqdm.auto import tqdm


@contextmanager
def phases() -> Iterator[dict[str, float]]:
    """Seconds by phase: from the making of a progress bar to that of the next one, summed up by its description.

    Yields:
        A dict that is filled inside the context; "before" is the time before the first bar.
    """
    found: dict[str, float] = {}
    current, since = "before", time.perf_counter()
    make = tqdm.__init__

    def end() -> None:
        nonlocal since
        now = time.perf_counter()
        found[current] = found.get(current, 0.0) + now - since
        since = now

    def started(self: Any, *args: Any, **kwargs: Any) -> None:
        nonlocal current
        end()
        current = str(kwargs.get("desc") or (args[1:2] or ("without a name",))[0])
        make(self, *args, **kwargs)

    tqdm.__init__ = started
    try:
        yield found
    finally:
        tqdm.__init__ = make
        end()
