"""A model is used by one thread at a time: the others wait until it is as it was before.

    taken    {module or parameter: thread}
    take     waits until no part is another thread's, then takes all of them at once
    give     gives them back, and wakes those that wait

Hooks, flags and evaluation mode belong to a module, not to a thread: of two threads in one model each would meet the
other's hooks, and put back what the other had set. Turns are taken part by part, so that two models which share a
module, or a weight, wait for each other, and two that share nothing do not.
"""

import os
from collections.abc import Iterable, Sequence
from threading import Condition, get_ident

from torch import nn
from torch.nn.parameter import Parameter

Part = nn.Module | Parameter


class Turns:
    """Which thread uses which parts of which models.

    A part is known by its `id`; whoever takes it must keep it alive.
    """

    def __init__(self) -> None:
        self._changed = Condition()
        self._taken: dict[int, int] = {}

    def take(self, parts: Iterable[int]) -> list[int]:
        """Wait until no other thread has any of these parts, and take them.

        All at once: a thread that waits for one part keeps none of the others from anybody.

        Returns:
            The parts that the thread did not have before: those to give back.
        """
        thread = get_ident()
        with self._changed:
            while any(self._taken[part] != thread for part in self._taken.keys() & parts):
                self._changed.wait()
            new = [part for part in parts if part not in self._taken]
            self._taken.update(dict.fromkeys(new, thread))
        return new

    def give(self, parts: Iterable[int]) -> None:
        """Give back what this thread took."""
        with self._changed:
            for part in parts:
                del self._taken[part]
            self._changed.notify_all()

    def forget_other_threads(self) -> None:
        """In a copy of the process, which has the calling thread alone: nobody would give back what others took."""
        thread = get_ident()
        self._changed = Condition()
        self._taken = {part: owner for part, owner in self._taken.items() if owner == thread}


TURNS = Turns()
if hasattr(os, "register_at_fork"):  # there is no fork on Windows
    os.register_at_fork(after_in_child=TURNS.forget_other_threads)


def parts_of(modules: Sequence[nn.Module]) -> list[Part]:
    """Modules and their own parameters: what a scope changes and puts back."""
    return [*modules, *(own for module in modules for own in module._parameters.values() if own is not None)]
