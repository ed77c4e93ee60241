"""A model is used by one thread at a time: none meets the hooks of another, or puts back what another has set."""

import sys
from collections.abc import Callable, Iterator
from threading import Event, Thread

import pytest
import torch
from torch import nn

import rcexplainer as rc
from rcexplainer.gnn.scope import Untouched
from rcexplainer.gnn.turns import Turns
from tests.gnn import zoo
from tests.gnn.graphs import make_graphs, state_of
from tests.gnn.splits import build

SOON = 0.2  # seconds that suffice to enter, where nothing holds a thread back
LATE = 60.0  # seconds after which a thread has been forgotten


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads take turns after every few operations."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def in_threads(*calls: Callable[[], object]) -> list[BaseException]:
    """What the calls raise, each in a thread of its own."""
    raised: list[BaseException] = []

    def caught(call: Callable[[], object]) -> None:
        try:
            call()
        except BaseException as error:  # noqa: BLE001  the test says what it was
            raised.append(error)

    threads = [Thread(target=caught, args=[call], daemon=True) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LATE)
        assert not thread.is_alive()
    return raised


def enters_meanwhile(model: nn.Module, other: nn.Module) -> bool:
    """Whether a thread gets into the second model while another is in the first; both come to an end."""
    entered, left = Event(), Event()

    def second() -> None:
        with Untouched(other):
            entered.set()
            left.wait(SOON)

    thread = Thread(target=second, daemon=True)
    with Untouched(model):
        thread.start()
        meanwhile = entered.wait(SOON)
    left.set()
    thread.join(LATE)
    assert entered.is_set()
    return meanwhile


def test_a_second_thread_waits_until_the_model_is_as_it_was():
    model = build(zoo.GCNLinear).train()
    before = state_of(model)
    assert not enters_meanwhile(model, model)
    assert state_of(model) == before


def test_models_that_share_a_module_or_a_weight_wait_for_each_other_and_others_do_not():
    first, second, third = (build(zoo.GCNLinear) for _ in range(3))
    second.conv1 = first.conv1
    third.lin.weight = first.lin.weight
    assert not enters_meanwhile(first, second)
    assert not enters_meanwhile(first, third)
    assert enters_meanwhile(second, third)


def test_a_module_added_later_is_taken_too():
    first, second = build(zoo.GCNLinear), build(zoo.GCNLinear)
    scope = Untouched(first)
    with scope:
        pass
    first.conv1 = second.conv1
    entered = Event()

    def other() -> None:
        with Untouched(second):
            entered.set()

    thread = Thread(target=other, daemon=True)
    with scope:
        thread.start()
        assert not entered.wait(SOON)
    thread.join(LATE)
    assert entered.is_set()


def test_a_thread_that_raises_gives_the_model_back():
    model = build(zoo.GCNLinear)

    def failing() -> None:
        with Untouched(model):
            raise KeyError

    assert [type(error) for error in in_threads(failing)] == [KeyError]
    assert enters_meanwhile(build(zoo.GCNLinear), model)


def test_one_thread_may_use_a_model_through_two_scopes():
    model = build(zoo.GCNLinear).train()
    before = state_of(model)
    with Untouched(model), Untouched(model):
        assert not model.training
    assert state_of(model) == before
    assert enters_meanwhile(build(zoo.GCNLinear), model)


def test_a_copy_of_the_process_forgets_what_other_threads_had():
    turns = Turns()
    in_threads(lambda: turns.take([1, 2]))
    turns.take([3])
    turns.forget_other_threads()
    assert turns.take([1, 2, 3]) == [1, 2]


def test_explainers_of_one_model_in_several_threads_answer_as_in_one(hasty):
    model = build(zoo.GCNLinear).train()
    before, graphs = state_of(model), make_graphs(6)
    methods = [rc.baselines.Occlusion(), rc.baselines.GNNExplainer(epochs=3)]
    fitted = [method.fit(model, graphs, progress=False) for method in methods]
    alone = [[one.edge_scores for one in explainer.explain(graphs)] for explainer in fitted]
    found: list[tuple[int, list[torch.Tensor]]] = []

    def explain(number: int) -> Callable[[], None]:
        def calls() -> None:
            for _ in range(4):
                found.append((number, [one.edge_scores for one in fitted[number].explain(graphs)]))
                found.append((number, [one.edge_scores for one in fitted[number].explain_iter(graphs)]))  # type: ignore[union-attr]

        return calls

    assert not in_threads(*(explain(number) for number in (0, 1, 0, 1)))
    assert state_of(model) == before
    assert len(found) == 32
    for number, scores in found:
        assert all(torch.equal(one, other) for one, other in zip(scores, alone[number], strict=True))


def test_one_thread_may_fit_while_another_explains(hasty):
    model = build(zoo.GCNLinear).train()
    before, graphs = state_of(model), make_graphs(6)
    fitted = rc.baselines.Occlusion().fit(model, graphs, progress=False)

    def explain() -> None:
        for _ in range(10):
            fitted.explain(graphs[0])

    def fit() -> None:
        for _ in range(3):
            rc.baselines.GNNExplainer(epochs=1).fit(model, graphs, progress=False)
        rc.baselines.PGExplainer(epochs=1).fit(model, graphs, progress=False)

    assert not in_threads(explain, fit, explain)
    assert state_of(model) == before


def test_a_stream_that_is_not_read_to_its_end_holds_nobody_back():
    model, graphs = build(zoo.GCNLinear), make_graphs(6)
    fitted = rc.baselines.Occlusion().fit(model, graphs, progress=False)
    results = fitted.explain_iter(graphs)
    next(iter(results))
    assert not in_threads(lambda: fitted.explain(graphs[0]))
