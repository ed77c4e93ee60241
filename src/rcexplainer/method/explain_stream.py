"""From instances to results, chunk after chunk, in their order.

A chunk is run at once. If the model turns out to mix the graphs of a batch, instances are run one by one: all of a call
from the start, those of a stream from the chunk on in which that was found.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NoReturn

from torch import Tensor
from tqdm.auto import tqdm

from rcexplainer.core.verification import Interference
from rcexplainer.errors import ExplainInterrupt, GraphError
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.gnn.instances import ALONE
from rcexplainer.method import inputs
from rcexplainer.method.explanations import BatchInstances, ExplanationColumns, Explanations, Slot, filled
from rcexplainer.method.results import ExplainRun
from rcexplainer.tasks import TASKS
from rcexplainer.tasks.computation_graph import Instance

log = logging.getLogger(__name__)

Asked = Iterable[Instance | Exception]  # an instance that cannot be made is an error in its place


@dataclass(frozen=True, eq=False)
class ExplainStream:
    """One call of `explain` or `explain_iter`.

    Attributes:
        run: Explains a batch of instances.
        most_edges: Edges of the instances that are explained at a time.
        masks: The edges that may be deleted.
        progress: Whether to show a progress bar.
    """

    run: ExplainRun
    most_edges: int
    masks: inputs.CandidateMasks = None
    progress: bool = False

    def collect(
        self, asked: Callable[[], Asked], whole: BatchInstances | None
    ) -> list[Slot | Failure] | ExplanationColumns:
        """All results of a call.

        Args:
            asked: Gives the instances; not called for a batch that is explained as it is.
            whole: The same as a batch, if it can be explained as it is.

        Raises:
            ExplainInterrupt: An interrupt came before the last chunk was done.
        """
        instances = cache(lambda: list(asked()))
        total = len(instances() if whole is None else whole)
        with self._bar(total) as bar:
            try:
                found = None if whole is None else _at_once(self.run, whole)
                bar.update(0 if found is None else total)
                return self._listed(instances(), self.run, bar) if found is None else found
            except Interference as mixed:
                self._warn(mixed, "this call is")
                bar.reset()
                return self._listed(instances(), replace(self.run, max_edges=ALONE), bar)

    def _listed(self, asked: Asked, run: ExplainRun, bar: "tqdm[NoReturn]") -> list[Slot | Failure]:
        """All results; an interrupt carries those that were finished before it."""
        found: list[Slot | Failure] = []
        try:
            found.extend(self._explained(asked, run, bar))
        except KeyboardInterrupt as stop:
            raise ExplainInterrupt(Explanations(found)) from stop
        return found

    def results(self, asked: Asked) -> Iterator[Explanation | Failure]:
        """Results as they come; a chunk of instances is in memory."""
        with self._bar() as bar:
            yield from map(filled, self._explained(asked, self.run, bar, streaming=True))

    def _bar(self, total: int | None = None) -> "tqdm[NoReturn]":
        return tqdm(total=total, desc="explain", unit=self.run.split.task, disable=not self.progress)

    def _explained(
        self, asked: Asked, run: ExplainRun, bar: "tqdm[NoReturn]", streaming: bool = False
    ) -> Iterator[Slot | Failure]:
        """Chunk after chunk; `Interference` is raised unless streaming, and a stream goes on one by one."""
        split, start = run.split, 0
        for chunk in inputs.chunks(asked, self.most_edges):
            first = next((one for one in chunk if isinstance(one, Instance)), None)
            if run.whole is None and first is not None:
                run = replace(run, whole=TASKS[split.task].whole_graph(split, first.graph, run.hops))
            own = inputs.masks_of(self.masks, start, len(chunk))
            errors = self._errors(chunk, own, start)
            with split.scope:  # once for all runs of the model
                try:
                    results = inputs.isolated(chunk, own, errors, replace(run, start=start))
                except Interference as found:
                    if not streaming:
                        raise
                    self._warn(found, f"instances from {start} on are")
                    run = replace(run, max_edges=ALONE)
                    results = inputs.isolated(chunk, own, errors, replace(run, start=start))
            for place, result in enumerate(results):
                yield Failure(start + place, result) if isinstance(result, Exception) else result
            start += len(chunk)
            bar.update(len(chunk))
        if not start:
            raise GraphError("there is nothing to explain: at least one graph is needed")
        inputs.check_number(self.masks, start)

    def _errors(
        self, chunk: Sequence[Instance | Exception], masks: list[Tensor] | None, start: int
    ) -> dict[int, Exception]:
        """Instances that could not be made, and candidate masks that do not fit, by position."""
        errors: dict[int, Exception] = {place: one for place, one in enumerate(chunk) if isinstance(one, Exception)}
        if masks is None:
            return errors
        for place, one in enumerate(chunk):
            try:
                if isinstance(one, Instance):
                    named = f"graph {start + place}" if one.index is None else f"{self.run.split.task} {one.index}"
                    if self.run.check is not None:  # what is wrong with the graph comes first
                        self.run.check(one.computation, named)
                    inputs.check_mask(masks[place], one.graph, named)
            except Exception as error:  # noqa: BLE001  whatever it is, it is kept in the slot
                errors[place] = error
        return errors

    def _warn(self, found: Interference, what: str) -> None:
        name = type(self.run.split.model).__name__
        log.warning("%s mixes the graphs of a batch (%s): %s run one by one", name, found, what)


def _at_once(run: ExplainRun, whole: BatchInstances) -> ExplanationColumns | None:
    """The results of a batch; None if anything is wrong: graph by graph it is found, and the others are kept."""
    try:
        return run(whole, None)
    except Interference:
        raise
    except Exception:  # noqa: BLE001  a model may raise anything
        return None
