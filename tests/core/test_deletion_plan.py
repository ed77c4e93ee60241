"""Plans of deletions: the logits by hand, sequences against literal probabilities, and what a symmetric graph needs."""

import pytest
import torch
from torch import Tensor

from rcexplainer.core import deletion_plan, plan_terms
from rcexplainer.core.deletion_plan import DeletionPlan, most_steps
from rcexplainer.core.mask_gates import NeighbourGate
from rcexplainer.core.mask_net import EdgeMaskNet
from rcexplainer.core.plan_net import PlanGate, PlanNet, plan_from
from rcexplainer.core.plan_terms import PlanTerms

PATH = torch.tensor([[0, 1, 2], [1, 2, 3]])  # units 0, 1, 2 in a row: 0 – 1 – 2 – 3


def column(*values: float) -> Tensor:
    return torch.tensor(values)[:, None]


def terms(logit: list[float], start=0.0, near=0.0, far=0.0, reply=1.0) -> PlanTerms:
    """Terms of width 1 of a single class, the same for all units unless a list is given."""
    given = (value if isinstance(value, list) else [value] * len(logit) for value in (start, near, far))
    row = torch.zeros(len(logit), dtype=torch.long)
    return PlanTerms(torch.tensor(logit), *(column(*values) for values in given), row, column(reply))


def plan(own: PlanTerms, pair: Tensor = PATH) -> DeletionPlan:
    nodes = int(pair.max()) + 1
    return DeletionPlan(own, pair, torch.tensor([0, pair.size(1)]), torch.tensor([0, nodes]))


def random_plan(seed: int = 0, width: int = 3) -> DeletionPlan:
    """A path of three units, and one of two."""
    generator = torch.Generator().manual_seed(seed)
    parts = [torch.randn(5, width, generator=generator) for _ in range(3)]
    classes = torch.tensor([1, 1, 1, 0, 0]), torch.randn(2, width, generator=generator)
    pair = torch.tensor([[0, 1, 2, 4, 5], [1, 2, 3, 5, 6]])
    own = PlanTerms(torch.randn(5, generator=generator), *parts, *classes)
    return DeletionPlan(own, pair, torch.tensor([0, 3, 5]), torch.tensor([0, 4, 7]))


def test_logits_by_hand() -> None:
    """Without 0: unit 1 shares a node with it, and has its other end one edge further; unit 2 is one edge away."""
    own = terms([0.1, 0.2, 0.3], start=[0.0, 0.0, -5.0], near=[1.0, 10.0, 100.0], far=[0.01, 0.1, 0.5], reply=2.0)
    found = plan(own).given(torch.tensor([0]))
    # What was deleted at the nodes: k at 0 and 1. At their neighbours, l: 0 has 1, 1 has 0, 2 has 1.
    unit_1 = 1.0 + (0.01 + 0.01)  # node 1: k, and l by way of node 0; node 2: l by way of node 1
    unit_2 = max(0.0, -5.0 + 0.01)  # node 2: l by way of node 1; below 0
    assert found[1:].tolist() == pytest.approx([0.2 + 2 * unit_1, 0.3 + 2 * unit_2])


def test_nothing_deleted_is_the_start_alone() -> None:
    own = terms([0.1, 0.2, 0.3], start=[1.0, -1.0, 2.0], near=9.0, far=9.0)
    assert plan(own).alone.tolist() == pytest.approx([1.1, 0.2, 2.3])


def test_a_symmetric_graph_is_planned_site_after_site() -> None:
    """Two paths of two edges that are alike: the scores tie, and a plan that likes neighbours finishes one first."""
    pair = torch.tensor([[0, 1, 3, 4], [1, 2, 4, 5]])
    alike = [0.5, 0.4, 0.5, 0.4]
    together = DeletionPlan(terms(alike, near=1.0), pair, torch.tensor([0, 4]), torch.tensor([0, 6]))
    apart = DeletionPlan(terms(alike, near=1.0, reply=-1.0), pair, torch.tensor([0, 4]), torch.tensor([0, 6]))
    assert together.order(torch.tensor([[0, 1]])).tolist()[:2] == [0, 1]
    walk = together._walk(torch.tensor([4]), lambda logits: logits, torch.empty(0, dtype=torch.long))
    assert walk.tolist() == [[0, 1, 2, 3]]  # the site of the first, then the other
    walk = apart._walk(torch.tensor([4]), lambda logits: logits, torch.empty(0, dtype=torch.long))
    assert walk.tolist() == [[0, 2, 1, 3]]  # one edge of each site


def test_order_places_every_unit_once_in_every_instance() -> None:
    order = random_plan().order()
    assert sorted(order[:3].tolist()) == [0, 1, 2]
    assert sorted(order[3:].tolist()) == [0, 1]


def test_a_path_comes_first_and_the_plan_goes_on_from_there(monkeypatch) -> None:
    monkeypatch.setattr(deletion_plan, "PLANNED_SHARE", 1.0)
    own = plan(terms([3.0, 0.0, 1.0], near=5.0))
    assert own.order().tolist() == [0, 1, 2]  # 1 is next to 0
    assert own.order(torch.tensor([[2]])).tolist() == [2, 1, 0]  # 1 is next to 2
    assert own.order(torch.tensor([[1, -1]])).tolist() == [1, 0, 2]


def test_an_instance_without_units_is_left_alone() -> None:
    empty = DeletionPlan(terms([]), torch.empty(2, 0, dtype=torch.long), torch.tensor([0, 0]), torch.tensor([0, 1]))
    assert empty.order().tolist() == []
    assert empty.drawn(torch.tensor([0]), 1.0, torch.Generator()).shape == (1, 0)


@pytest.mark.parametrize("size", [1.0, 100.00005])  # also where a value is halfway between two rounded ones
def test_rounding_does_not_decide_between_equal_units(size: float) -> None:
    own = terms([size, size * (1 + 1e-7), 0.0])
    assert plan(own).order().tolist() == [0, 1, 2]


def test_copies_have_the_logits_of_their_own_deletions() -> None:
    made = random_plan()
    removed = torch.tensor([True, False, False, False, True, True, False, False])  # copies of 0, 1 and 0
    found = made.copies(torch.tensor([0, 1, 0]), removed)
    expected = [
        made.given(torch.tensor([0]))[:3],
        made.given(torch.tensor([4]))[3:],
        made.given(torch.tensor([0]))[:3],
    ]
    torch.testing.assert_close(found, torch.cat(expected).double(), atol=1e-4, rtol=0)


def test_many_classes_are_answered_alike(monkeypatch) -> None:
    few = random_plan().given(torch.tensor([1]))
    monkeypatch.setattr(plan_terms, "FEW_CLASSES", 1)
    torch.testing.assert_close(random_plan().given(torch.tensor([1])), few)


def test_a_new_plan_network_begins_with_the_mask_networks_weights() -> None:
    torch.manual_seed(0)
    net = EdgeMaskNet(NeighbourGate(4, 2, 3, 8), 4, 2)
    net.standardise(torch.randn(20, 4), torch.randn(5, 2))
    made = plan_from(net, net.gate)
    assert isinstance(made, PlanNet)
    assert isinstance(made.gate, PlanGate)
    inputs = torch.randn(4, 4), torch.randn(1, 2), torch.tensor([2]), PATH, torch.zeros(3, dtype=torch.long)
    torch.testing.assert_close(made.terms(*inputs).logit, net(*inputs))
    assert made.terms(*inputs).near.shape == (3, made.gate.reply.embedding_dim)


def test_draws_of_three_units_follow_their_weights() -> None:
    """With three units noise of the other sign would give other shares."""
    made, times = plan(terms([0.0, 0.0, 2.0])), 4000
    first = made.repeated(times).drawn(torch.ones(times, dtype=torch.long), 1.0, torch.Generator().manual_seed(0))
    weight = torch.tensor([1.0, 1.0, torch.e**2])
    shares = torch.bincount(first[:, 0] % 3, minlength=3) / times
    torch.testing.assert_close(shares, weight / weight.sum(), atol=0.03, rtol=0)


def test_copies_of_several_instances_stand_one_after_the_other() -> None:
    twice = random_plan().repeated(2)
    assert twice.ptr.tolist() == [0, 3, 5, 8, 10]
    assert twice.node_ptr.tolist() == [0, 4, 7, 11, 14]
    assert twice.pair.tolist() == [[0, 1, 2, 4, 5, 7, 8, 9, 11, 12], [1, 2, 3, 5, 6, 8, 9, 10, 12, 13]]


def test_only_the_first_share_is_planned() -> None:
    """Ten units in a row, three of them planned: 9, 8 and 7. The rest follows as it is then, not one by one."""
    pair = torch.stack([torch.arange(10), torch.arange(1, 11)])
    made = plan(terms([*range(10)], near=[0.0] * 6 + [100.0] + [0.0] * 3), pair)
    assert made.order().tolist() == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]  # had 6 been planned, 5 would have come next, too
    made = plan(terms([*range(10)], near=[0.0] * 6 + [100.0] + [0.0] * 3, reply=-1.0), pair)
    assert made.order().tolist() == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]  # had 6 been planned, 5 would have come last


def test_each_planned_step_knows_those_before() -> None:
    """Ten units in a row: 9 raises 8, 8 raises 7, and so on; without that, 5 would come before all of them but 9."""
    pair, logit = torch.stack([torch.arange(10), torch.arange(1, 11)]), [0.0] * 5 + [2.0] + [0.0] * 3 + [3.0]
    made = plan(terms(logit, near=[0.0] * 5 + [0.0, 0.0, 10.0, 10.0, 10.0]), pair)
    first = made.order().argsort().tolist()
    assert first[:5] == [9, 8, 7, 6, 5]  # three are planned; 6 stands next to the third
    after = made.order(torch.tensor([[0]])).argsort().tolist()
    assert after[:5] == [0, 9, 8, 7, 5]  # two more are planned, and 7 is none of them


def test_the_first_unit_is_drawn_first_where_it_is_far_ahead() -> None:
    drawn = plan(terms([100.0, 0.0, 0.0])).drawn(torch.tensor([1]), 1.0, torch.Generator().manual_seed(0))
    assert drawn.tolist() == [[0]]


def test_all_units_of_an_instance_can_be_drawn() -> None:
    drawn = plan(terms([0.0, 0.0, 0.0])).drawn(torch.tensor([3]), 1.0, torch.Generator().manual_seed(0))
    assert sorted(drawn[0].tolist()) == [0, 1, 2]


def test_what_is_no_tie_is_decided() -> None:
    assert plan(terms([1.0, 1.00015, 0.0])).order().tolist() == [1, 0, 2]
    assert plan(terms([1.0, 1.00005, 0.0])).order().tolist() == [0, 1, 2]


def test_deletions_one_by_one_are_felt_as_all_at_once() -> None:
    """Literally: k of deletions at a node, and l of those at its neighbours."""
    made, gone = random_plan(seed=2), torch.tensor([0, 1, 4])
    together, one_by_one = made._around(gone), torch.zeros(7, 3)
    for unit in gone:
        made.neighbours.add_(one_by_one, *made._deleted(unit[None]))
    torch.testing.assert_close(one_by_one, together)
    for node in range(7):
        here = [unit for unit in gone.tolist() if node in made.pair[:, unit].tolist()]
        beside = [int(other) for edge in made.pair.T if node in edge.tolist() for other in edge if int(other) != node]
        there = [unit for other in beside for unit in gone.tolist() if other in made.pair[:, unit].tolist()]
        expected = made.terms.near[here].sum(0) + made.terms.far[there].sum(0)
        torch.testing.assert_close(together[node], expected)


def test_the_neighbours_of_a_hub_are_visited_once(monkeypatch) -> None:
    """Of a star, where each unit has all others as neighbours, however many of them are gone."""
    size, visited, plain = 400, [], plan_terms.gather_ranges

    def watched(starts: Tensor, ends: Tensor) -> tuple[Tensor, Tensor]:
        visited.append(int((ends - starts).sum()))
        return plain(starts, ends)

    star = torch.stack([torch.zeros(size, dtype=torch.long), torch.arange(1, size + 1)])
    made = plan(terms([0.0] * size, near=1.0, far=0.5), star)
    monkeypatch.setattr(plan_terms, "gather_ranges", watched)
    felt = made._around(torch.arange(size // 2))
    assert sum(visited) <= 2 * size
    assert felt[0].item() == size // 2 * 1.5  # k of all that are gone, and l by way of each of their other ends
    assert felt[size].item() == size // 2 * 0.5  # l of all of them, by way of the hub


def test_terms_of_batches_are_joined() -> None:
    parts = [random_plan(seed=seed).terms for seed in range(2)]
    joined = PlanTerms.joined(parts)
    assert joined.reply is parts[0].reply
    for name in ("logit", "start", "near", "far", "row"):
        assert torch.equal(getattr(joined, name), torch.cat([getattr(part, name) for part in parts]))


def test_a_huge_instance_has_one_step_at_least() -> None:
    assert most_steps(torch.tensor([0, 3, 10, 50, 1000]), 8, 100).tolist() == [0, 3, 8, 2, 1]


def test_at_first_a_deletion_changes_little() -> None:
    """The weights of what deletions do begin at three tenths of the usual size."""
    torch.manual_seed(0)
    usual = 64**-0.5
    gate = PlanGate(20, 20, 500)
    assert gate.change.weight.std().item() == pytest.approx(0.3 * usual, rel=0.05)
    assert gate.reply.weight.std().item() == pytest.approx(gate.reply.embedding_dim**-0.5, rel=0.05)
