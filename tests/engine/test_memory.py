"""A batch for which memory does not suffice is halved, and that is said once."""

import logging

import pytest
import torch

from rcexplainer.datasets.graph_table import GraphTable
from rcexplainer.engine.explained_rows import Stamp, explained_rows
from rcexplainer.engine.row_options import RowOptions
from rcexplainer.method import inputs

STAMP = Stamp("", "", ("negative", "positive"))
ERRORS = [
    torch.OutOfMemoryError("CUDA out of memory"),
    MemoryError(),
    RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 80 bytes"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_halves_are_tried_and_it_is_said_once(case, error, caplog) -> None:
    fitted, rows, tried = case.fitted(), GraphTable(case.molecules).read(0, 40), []
    whole = explained_rows(fitted, rows, RowOptions(), STAMP)
    model, forward = fitted.split.model, type(fitted.split.model).forward

    def small_batches_only(self, x, edge_index, *others, **further):
        tried.append(x.size(0))
        if x.size(0) > 450:
            raise error
        return forward(self, x, edge_index, *others, **further)

    inputs.tell_memory.cache_clear()
    with pytest.MonkeyPatch.context() as patch, caplog.at_level(logging.WARNING):
        patch.setattr(type(model), "forward", small_batches_only)
        halved = explained_rows(fitted, rows, RowOptions(), STAMP)
    assert max(tried) > 450
    assert halved.column("error").null_count == 40
    assert halved.column("removed").to_pylist() == whole.column("removed").to_pylist()
    assert caplog.text.count("memory does not suffice for a batch of graphs") == 1
