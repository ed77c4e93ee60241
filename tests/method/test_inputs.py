"""What comes in: instances are grouped, one bad instance costs no other, masks go with their instances."""

import logging

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given
from torch_geometric.data import Data

from rcexplainer.core.verification import Interference
from rcexplainer.errors import GraphError, ModelError, RCExplainerError, TimeUpError
from rcexplainer.method import inputs
from rcexplainer.tasks.computation_graph import Instance

CPU, CUDA = torch.device("cpu"), torch.device("cuda")


def instance(edges: int, **more: object) -> Instance:
    graph = Data(x=torch.ones(2, 1), edge_index=torch.zeros(2, edges, dtype=torch.long), **more)
    return Instance(graph, graph)


# ---- chunks


@pytest.mark.parametrize("device", [None, CPU, CUDA])
def test_chunks_are_larger_on_a_gpu_and_smaller_where_the_graph_is_not_in_memory(device) -> None:
    assert inputs.most_edges(device, True) < inputs.most_edges(device, False)
    for from_source in (True, False):
        cpu, gpu = inputs.most_edges(CPU, from_source), inputs.most_edges(CUDA, from_source)
        assert cpu < gpu
        assert inputs.most_edges(device, from_source) == (gpu if device == CUDA else cpu)


@given(sizes=st.lists(st.none() | st.integers(0, 9), max_size=12), most=st.integers(1, 12), count=st.integers(1, 5))
def test_a_chunk_takes_what_fits(sizes: list[int | None], most: int, count: int) -> None:
    """None is an instance that could not be made: it has no edges, and keeps its place."""
    asked = [ValueError() if size is None else instance(size) for size in sizes]
    expected: list[list[int]] = []
    for place, size in enumerate(sizes):
        last = expected[-1] if expected else []
        edges = sum(sizes[other] or 0 for other in last) + (size or 0)
        if last and edges <= most and len(last) < count:
            last.append(place)
        else:
            expected.append([place])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inputs, "CHUNK_GRAPHS", count)
        found = list(inputs.chunks(iter(asked), most))
    assert [[asked.index(one) for one in chunk] for chunk in found] == expected


def test_instances_with_other_tensors_are_not_batched_together() -> None:
    plain, noted = instance(1), instance(1, note="text")
    weighted, again = instance(1, edge_weight=torch.ones(1)), instance(2, edge_weight=torch.ones(2))
    asked = [plain, noted, plain, weighted, again, plain]
    assert [len(chunk) for chunk in inputs.chunks(asked, 100)] == [3, 2, 1]


@pytest.mark.parametrize("edges", [None, torch.zeros(4, dtype=torch.long), torch.tensor(3), "edges"])
def test_a_malformed_graph_is_left_for_the_checks_to_refuse(edges) -> None:
    graph = Data(x=torch.ones(2, 1))
    graph.edge_index = edges
    ((one,),) = inputs.chunks([Instance(graph, graph)], 2)
    assert one.graph is graph


# ---- errors


class Runs:
    """Explains batches of instances; `wrong` says what is raised for each, and together for a batch that holds one."""

    def __init__(self, wrong: dict[int, Exception], named: bool = False, most: int = 100) -> None:
        self.wrong, self.named, self.most, self.sizes = wrong, named, most, list[int]()

    def __call__(self, some, masks):
        self.sizes.append(len(some))
        if len(self.sizes) > 50:
            pytest.fail("the same instances are run again and again")
        if len(some) > self.most:
            raise torch.OutOfMemoryError("too many")
        found = {row: self.wrong[one.index] for row, one in enumerate(some) if one.index in self.wrong}
        if found and self.named:
            raise inputs.Unsound(found)
        if found:
            raise next(iter(found.values()))
        return [(one.index, None if masks is None else masks[row]) for row, one in enumerate(some)]


def chunk_of(count: int) -> list[Instance]:
    graph = instance(1).graph
    return [Instance(graph, graph, index=place) for place in range(count)]


def answers(slots) -> list:
    """What each instance got: its own number, or an error."""
    return [slot if isinstance(slot, Exception) else slot[0][slot[1]][0] for slot in slots]


@pytest.mark.parametrize("named", [True, False])
def test_one_bad_instance_costs_no_other(named: bool, caplog) -> None:
    inputs.tell_memory.cache_clear()
    wrong = {place: GraphError(f"wrong {place}") for place in (2, 5)}
    with caplog.at_level(logging.WARNING):
        found = answers(inputs.isolated(chunk_of(7), None, {}, Runs(wrong, named)))
    assert found == [0, 1, wrong[2], 3, 4, wrong[5], 6]
    assert not caplog.records  # an error is no want of memory


def test_what_is_known_to_be_wrong_is_not_run() -> None:
    known = {0: GraphError("no"), 2: GraphError("no")}
    run = Runs({})
    assert answers(inputs.isolated(chunk_of(4), None, known, run)) == [known[0], 1, known[2], 3]
    assert run.sizes == [2]
    run = Runs({})
    assert answers(inputs.isolated(chunk_of(1), None, {0: known[0]}, run)) == [known[0]]
    assert run.sizes == []
    run = Runs({0: known[0]}, named=True)
    assert answers(inputs.isolated(chunk_of(1), None, {}, run)) == [known[0]]
    assert run.sizes == [1]


def test_every_instance_keeps_its_mask() -> None:
    masks = [torch.tensor([place]) for place in range(5)]
    for wrong in ({}, {1: GraphError("wrong")}):
        for slot, mask in zip(inputs.isolated(chunk_of(5), masks, {}, Runs(wrong)), masks, strict=True):
            assert isinstance(slot, Exception) or slot[0][slot[1]][1] is mask


def test_an_error_of_the_model_becomes_one_of_ours() -> None:
    odd = ZeroDivisionError("odd")
    (first, second) = inputs.isolated(chunk_of(2), None, {}, Runs({1: odd}))
    assert not isinstance(first, Exception)
    assert isinstance(second, ModelError)
    assert str(second) == "the model raised ZeroDivisionError on this instance: odd"
    assert second.__cause__ is odd


def test_without_time_halves_are_not_tried() -> None:
    late, run = TimeUpError("the time is up"), Runs({0: TimeUpError("the time is up")})
    found = inputs.isolated(chunk_of(4), None, {}, run)
    assert [str(one) for one in found] == [str(late)] * 4
    assert run.sizes == [4]


def test_a_model_that_mixes_graphs_has_no_results_to_keep() -> None:
    with pytest.raises(Interference):
        inputs.isolated(chunk_of(4), None, {}, Runs({2: Interference(1, 4, 0.1)}))


def test_batches_are_halved_where_memory_ends_which_is_said_once(caplog) -> None:
    inputs.tell_memory.cache_clear()
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            run = Runs({}, most=2)
            assert answers(inputs.isolated(chunk_of(8), None, {}, run)) == list(range(8))
            assert sorted(run.sizes) == [2, 2, 2, 2, 4, 4, 8]
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == [
        "memory does not suffice for a batch of graphs"
    ]


def test_a_graph_that_is_too_large_alone_is_not_halved(caplog) -> None:
    inputs.tell_memory.cache_clear()
    with caplog.at_level(logging.WARNING):
        (error,) = inputs.isolated(chunk_of(1), None, {}, Runs({}, most=0))
    assert isinstance(error, ModelError)
    assert not caplog.records


@pytest.mark.parametrize(
    ("error", "memory"),
    [
        (MemoryError(), True),
        (torch.OutOfMemoryError("CUDA out of memory"), True),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes"), True),
        (RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes"), True),
        (RuntimeError("sizes do not match"), False),
        (ValueError(), False),
    ],
)
def test_an_error_that_says_memory_did_not_suffice(error: Exception, memory: bool) -> None:
    assert inputs.out_of_memory(error) == memory


# ---- candidates


def test_candidates_are_a_mask_or_a_list_of_them() -> None:
    mask = torch.ones(3, dtype=torch.bool)
    assert inputs.candidate_masks(None) is None
    assert inputs.candidate_masks(mask) is mask
    for several in ([mask, mask], (mask, mask)):
        found = inputs.candidate_masks(several)
        assert isinstance(found, list)
        assert all(one is mask for one in found)
        assert len(found) == 2
    for wrong, said in (("mask", "got str"), (5, "got int"), ([mask, 1], "got a list with 1")):
        with pytest.raises(RCExplainerError, match=f"candidates must be a boolean tensor .*, {said}"):
            inputs.candidate_masks(wrong)


def test_one_mask_serves_all_and_a_list_has_one_for_each() -> None:
    masks = [torch.tensor([place == other for other in range(5)]) for place in range(5)]
    assert inputs.masks_of(None, 0, 3) is None
    assert all(one is masks[0] for one in inputs.masks_of(masks[0], 2, 3))
    assert len(inputs.masks_of(masks[0], 2, 3)) == 3
    assert [one is other for one, other in zip(inputs.masks_of(masks, 2, 3), masks[2:], strict=True)] == [True] * 3
    with pytest.raises(RCExplainerError, match="one mask for each instance, got 5"):
        inputs.masks_of(masks, 3, 3)
    inputs.check_number(masks, 5)
    inputs.check_number(masks[0], 2)
    inputs.check_number(None, 2)
    with pytest.raises(RCExplainerError, match="one mask for each of 4 instances, got 5"):
        inputs.check_number(masks, 4)


def test_a_mask_has_a_truth_value_for_each_edge() -> None:
    graph = instance(3).graph
    inputs.check_mask(torch.tensor([True, False, True]), graph, "graph 0")
    for wrong in (torch.ones(3), torch.ones(2, dtype=torch.bool), torch.ones(3, 1, dtype=torch.bool), [True] * 3, None):
        with pytest.raises(GraphError, match="the candidates of graph 0 must be a boolean mask of its 3 edges"):
            inputs.check_mask(wrong, graph, "graph 0")
