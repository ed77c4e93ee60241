"""Eq. 6: the gates against their formulas, symmetric in the two nodes, at home in any order of units and nodes."""

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call

from rcexplainer.core.concat_gate import ConcatGate, DirectedGate, both_ways, classwise, doubled
from rcexplainer.core.mask_gates import FactorisedGate, GateStack, MeanGate, NeighbourGate, own_weights
from rcexplainer.core.mask_net import EdgeMaskNet, mean_of, member_of, stack_of

NODES, UNITS, D, WIDTH, CLASSES = 12, 30, 5, 4, 3
GATES = [FactorisedGate, NeighbourGate, ConcatGate, DirectedGate]


def inputs(seed: int = 0) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """z, z_G, label, pair, owner: two instances, of six nodes each."""
    random = torch.Generator().manual_seed(seed)
    owner = torch.arange(2).repeat_interleave(UNITS // 2)
    pair = torch.randint(6, (2, UNITS), generator=random) + 6 * owner
    z, z_g = torch.randn(NODES, D, generator=random), torch.randn(2, WIDTH, generator=random)
    return z, z_g, torch.tensor([2, 0]), pair, owner


def build(gate_class: type[nn.Module], **settings: int) -> nn.Module:
    torch.manual_seed(0)
    gate = gate_class(D, WIDTH, CLASSES, **settings)
    return gate.requires_grad_(False)


@pytest.mark.parametrize("classes", [CLASSES, 40])
def test_the_factorised_gate_is_its_formula(classes: int) -> None:
    """Also with many classes, where the output weights of each instance are gathered."""
    gate = FactorisedGate(D, WIDTH, classes, hidden=7).requires_grad_(False)
    nn.init.normal_(gate.bias.weight)
    z, z_g, label, pair, owner = inputs()
    (u, v), c = gate.node.weight.chunk(2), gate.context
    expected = []
    for unit in range(UNITS):
        i, j, g = int(pair[0, unit]), int(pair[1, unit]), int(owner[unit])
        a, o, b = (table.weight[label[g]] for table in (gate.shift, gate.out, gate.bias))
        hidden = u @ z[i] + u @ z[j] + (v @ z[i]) * (v @ z[j]) + c.weight @ z_g[g] + c.bias + a
        expected.append(o @ hidden.clamp_min(0) + b[0])
    torch.testing.assert_close(gate(z, z_g, label, pair, owner), torch.stack(expected))


@pytest.mark.parametrize("every", [1, 6], ids=["nodes of several units", "nodes of one unit"])
def test_the_neighbour_gate_is_its_formula(every: int) -> None:
    gate = build(NeighbourGate, hidden=7)
    nn.init.normal_(gate.bias.weight)
    z, z_g, label, pair, owner = inputs()
    pair, owner = pair[:, ::every], owner[::every]
    hidden = gate.hidden(own_weights(gate), z, z_g, label, pair, owner)
    expected = []
    for unit in range(len(owner)):
        ends, g = pair[:, unit].tolist(), int(owner[unit])
        heard = torch.zeros(7)
        for node in ends:
            # A unit from a node to itself stands at both its ends.
            times = (pair == node).sum(0)
            heard = heard + gate.near((times[:, None] * hidden).sum(0) / times.sum())
        o, b = (table.weight[label[g]] for table in (gate.out, gate.bias))
        expected.append(o @ (hidden[unit] + heard.clamp_min(0)) + b[0])
    torch.testing.assert_close(gate(z, z_g, label, pair, owner), torch.stack(expected))


@pytest.mark.parametrize("gate_class", [FactorisedGate, NeighbourGate])
@pytest.mark.parametrize("hidden", [16, 256])
def test_a_gate_begins_with_class_weights_of_a_size_that_leaves_the_logits_alone(gate_class, hidden: int) -> None:
    """Sums over the hidden units are of size 1 whatever their number, and no class begins with a bias."""
    torch.manual_seed(0)
    gate = gate_class(D, WIDTH, 100, hidden=hidden)
    for table in (gate.shift, gate.out):
        assert table.weight.norm(dim=1).mean().item() == pytest.approx(1, rel=0.1)
    assert torch.count_nonzero(gate.bias.weight) == 0


def test_of_two_equal_units_each_hears_of_its_own_neighbours() -> None:
    """A path of four nodes, the first three alike: the first two units look the same, the second has a neighbour."""
    z = torch.tensor([[1.0], [1.0], [1.0], [-1.0]]).expand(4, D)
    pair, owner = torch.tensor([[0, 1, 2], [1, 2, 3]]), torch.zeros(3, dtype=torch.long)
    asked = z, torch.zeros(1, WIDTH), torch.tensor([0]), pair, owner
    alone, heard = build(FactorisedGate)(*asked), build(NeighbourGate)(*asked)
    assert alone[0] == alone[1]
    assert abs(heard[0] - heard[1]) > 1e-3


@pytest.mark.parametrize("gate_class", [FactorisedGate, NeighbourGate])
def test_the_gradient_of_gates_that_add_up_in_place(gate_class: type[nn.Module]) -> None:
    """Autograd must have seen it."""
    gate, (z, z_g, label, pair, owner) = build(gate_class, hidden=3).double(), inputs()
    weights = {name: value.clone().requires_grad_() for name, value in gate.named_parameters()}

    def logits(z: Tensor, z_g: Tensor, *values: Tensor) -> Tensor:
        return functional_call(gate, dict(zip(weights, values, strict=True)), (z, z_g, label, pair, owner))

    assert torch.autograd.gradcheck(
        logits, (z.double().requires_grad_(), z_g.double().requires_grad_(), *weights.values())
    )


def test_the_concatenating_gate_is_its_formula() -> None:
    gate = build(ConcatGate, hidden=7)
    z, z_g, label, pair, owner = inputs()
    first, last = gate.first, gate.last
    ways = []
    for (i, j), c in zip(pair.T.tolist(), label[owner].tolist(), strict=True):  # each class has a network of its own
        ways += [
            last.weight[c] @ (first.weight[c] @ torch.cat([z[a], z[b]]) + first.bias[c]).clamp_min(0) + last.bias[c]
            for a, b in ((i, j), (j, i))
        ]
    both = torch.cat(ways).view(-1, 2)
    torch.testing.assert_close(gate(z, z_g, label, pair, owner), both.mean(1))
    ordered = gate.ordered(z, label, *doubled(pair, owner))
    torch.testing.assert_close(both_ways(ordered)[0], both.T)
    directed = build(DirectedGate, hidden=7)
    directed.load_state_dict(gate.state_dict())
    torch.testing.assert_close(directed(z, z_g, label, pair, owner).sigmoid(), both.sigmoid().mean(1))


def test_one_network_for_all_classes_is_read_as_one_for_each() -> None:
    gate, (z, z_g, label, pair, owner) = build(ConcatGate), inputs()
    shared = {name: value[0] for name, value in gate.state_dict().items()}  # as version 0.1 had it
    gate.load_state_dict(classwise(shared, len(gate.first.weight)))
    found = [gate(z, z_g, torch.full_like(label, c), pair, owner) for c in range(len(gate.first.weight))]
    assert all(torch.equal(one, found[0]) for one in found[1:])


@pytest.mark.parametrize("gate_class", GATES)
def test_the_logits_of_several_gates_need_their_weights_alone(gate_class: type[nn.Module]) -> None:
    gates = [gate_class(D, WIDTH, CLASSES, hidden=7).requires_grad_(False) for _ in range(3)]
    weights = {
        name: torch.stack([dict(gate.named_parameters())[name] for gate in gates]) for name in own_weights(gates[0])
    }
    found = gate_class.side_by_side(weights, *inputs())
    torch.testing.assert_close(found, torch.stack([gate(*inputs()) for gate in gates]))


@pytest.mark.parametrize("gate_class", GATES)
def test_symmetric_in_the_two_nodes(gate_class: type[nn.Module]) -> None:
    gate, (z, z_g, label, pair, owner) = build(gate_class), inputs()
    torch.testing.assert_close(gate(z, z_g, label, pair.flip(0), owner), gate(z, z_g, label, pair, owner))


@pytest.mark.parametrize("gate_class", GATES)
def test_permuting_nodes_or_units_permutes_the_logits(gate_class: type[nn.Module]) -> None:
    gate, (z, z_g, label, pair, owner) = build(gate_class), inputs()
    expected = gate(z, z_g, label, pair, owner)
    nodes, units = torch.randperm(NODES), torch.randperm(UNITS)
    torch.testing.assert_close(gate(z[nodes], z_g, label, nodes.argsort()[pair], owner), expected)
    torch.testing.assert_close(gate(z, z_g, label, pair[:, units], owner[units]), expected[units])
    torch.testing.assert_close(gate(z, z_g.flip(0), label.flip(0), pair, 1 - owner), expected)


@pytest.mark.parametrize("gate_class", [FactorisedGate, ConcatGate])
def test_each_class_reads_with_weights_of_its_own(gate_class: type[nn.Module]) -> None:
    gate, (z, z_g, _, pair, owner) = build(gate_class), inputs()
    before, after = (gate(z, z_g, torch.tensor([c, 0]), pair, owner) for c in (2, 1))
    assert torch.equal(before[owner == 1], after[owner == 1])
    assert not torch.allclose(before[owner == 0], after[owner == 0])


@pytest.mark.parametrize("gate_class", GATES)
def test_no_tensor_is_larger_than_the_units_or_the_nodes(gate_class: type[nn.Module]) -> None:
    """O(|E|): 20,000 nodes would make a matrix of 1.6 GB; the largest thing ever made is [nodes, 2 hidden]."""
    from torch.utils._python_dispatch import TorchDispatchMode

    largest = 0

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            nonlocal largest
            out = func(*args, **(kwargs or {}))
            for value in out if isinstance(out, tuple | list) else (out,):
                largest = max(largest, value.numel() if isinstance(value, Tensor) else 0)
            return out

    gate, units = build(gate_class, hidden=8), 5000
    z, pair = torch.randn(20000, D), torch.randint(20000, (2, units))
    with Watch():
        out = gate(z, torch.randn(1, WIDTH), torch.tensor([0]), pair, torch.zeros(units, dtype=torch.long))
    assert out.shape == (units,)
    assert largest <= 20000 * max(2 * 8, 2 * D)


@pytest.mark.parametrize("gate_class", GATES)
def test_nothing_to_score(gate_class: type[nn.Module]) -> None:
    empty = torch.empty(2, 0, dtype=torch.long)
    z, z_g, label, *_ = inputs()
    assert build(gate_class)(z, z_g, label, empty, empty[0]).shape == (0,)


def test_standardised_inputs_have_mean_0_and_spread_1() -> None:
    seen: list[Tensor] = []

    class Spy(nn.Module):
        def forward(self, z: Tensor, z_g: Tensor, *_: Tensor) -> Tensor:
            seen[:] = [z, z_g]
            return z

    net = EdgeMaskNet(Spy(), D, WIDTH)
    random = torch.Generator().manual_seed(0)
    nodes = torch.randn(200, D, generator=random) * torch.tensor([1e-3, 1.0, 10.0, 1e3, 1.0]) + 5
    instances = torch.randn(50, WIDTH, generator=random) * 3 - 1
    nothing = torch.empty(0)
    net(nodes, instances, nothing, nothing, nothing)
    assert torch.equal(seen[0], nodes)  # as it is, before anything was measured
    net.standardise(nodes, instances)
    net(nodes, instances, nothing, nothing, nothing)
    for values in seen:
        torch.testing.assert_close(values.mean(0), torch.zeros(values.size(1)), atol=1e-3, rtol=0)
        torch.testing.assert_close(values.std(0, correction=0), torch.ones(values.size(1)), atol=1e-3, rtol=0)
    assert {"node_mean", "node_std", "instance_mean", "instance_std"} <= net.state_dict().keys()
    assert not any(name.endswith(("_mean", "_std")) for name, _ in net.named_parameters())


def test_a_large_mean_costs_no_digits() -> None:
    net = EdgeMaskNet(nn.Identity(), 1, 1)
    net.gate.forward = lambda z, *_: z
    nodes = 1e6 + torch.arange(5.0)[:, None] / 4
    net.standardise(nodes, torch.zeros(2, 1))
    nothing = torch.empty(0)
    spread = 0.125**0.5
    expected = (torch.arange(5.0)[:, None] / 4 - 0.5) / spread
    torch.testing.assert_close(net(nodes, torch.zeros(1, 1), nothing, nothing, nothing), expected, atol=1e-4, rtol=0)


def test_a_node_without_units_spoils_no_gradient() -> None:
    gate = build(NeighbourGate).requires_grad_()
    z, z_g, label, pair, owner = inputs()
    gate(torch.cat([z, z[:1]]), z_g, label, pair, owner).sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in gate.parameters())


def test_what_is_constant_in_training_neither_divides_by_zero_nor_explodes() -> None:
    """An atom that no training graph has, a unit that was dead: seen later, it must not drown everything else."""
    net = EdgeMaskNet(build(FactorisedGate), D, WIDTH)
    z, z_g, label, pair, owner = inputs()
    z[:, 0] = 0.0
    net.standardise(z, z_g)
    known = net(z, z_g, label, pair, owner)
    assert known.isfinite().all()
    z[3, 0] = 1.0
    assert net(z, z_g, label, pair, owner).abs().max() < 100 * known.abs().max()


def test_what_is_constant_in_training_keeps_its_unit() -> None:
    net, nothing = EdgeMaskNet(nn.Identity(), 1, 1), torch.empty(0)
    net.gate.forward = lambda z, *_: z
    net.standardise(torch.full((3, 1), 5.0), torch.zeros(2, 1))
    found = net(torch.tensor([[5.0], [6.0], [3.0]]), torch.zeros(1, 1), nothing, nothing, nothing)
    assert found.flatten().tolist() == [0, 1, -2]


def test_a_mean_gate_hands_what_each_gate_says_to_its_mean() -> None:
    gates = [build(FactorisedGate, hidden=3), build(NeighbourGate, hidden=5)]
    some = inputs()
    both = torch.stack([gate(*some) for gate in gates])

    def largest(logits: Tensor, owner: Tensor, instances: int) -> Tensor:
        assert (owner is some[4], instances) == (True, 2)
        return logits.amax(0)

    assert torch.equal(MeanGate(gates, largest)(*some), both.amax(0))
    assert torch.equal(MeanGate(gates[1:], largest)(*some), both[1])


def test_the_mean_of_one_network_is_that_network_and_of_several_leaves_them_as_they_are() -> None:
    nets = [EdgeMaskNet(build(FactorisedGate, hidden=width), D, WIDTH) for width in (3, 5)]

    def first(logits: Tensor, owner: Tensor, instances: int) -> Tensor:
        return logits[0]

    assert mean_of(nets[:1], first) is nets[0]
    whole = mean_of(nets, first)
    assert isinstance(nets[0].gate, FactorisedGate)
    assert torch.equal(whole(*inputs()), nets[0](*inputs()))


@pytest.mark.parametrize("gate_class", GATES)
@pytest.mark.parametrize("classes", [CLASSES, 40])
def test_gates_side_by_side_say_what_each_says_alone(gate_class: type[nn.Module], classes: int) -> None:
    """Also with many classes, where the output weights of each instance are gathered."""
    torch.manual_seed(0)
    gates = [gate_class(D, WIDTH, classes, hidden=7) for _ in range(3)]
    for gate in gates:
        for parameter in gate.parameters():
            nn.init.normal_(parameter)
    stack, some = GateStack(gates), inputs()
    alone = torch.stack([gate(*some) for gate in gates])
    assert len(stack) == 3
    torch.testing.assert_close(stack(*some), alone)
    (stack(*some) * torch.tensor([[1.0], [2.0], [3.0]])).sum().backward()
    for weight, gate in ((1.0, gates[0]), (3.0, gates[2])):
        (weight * gate(*some)).sum().backward()
    for name, stacked in zip(stack.names, stack.weights, strict=True):
        for place in (0, 2):
            own = dict(gates[place].named_parameters())[name].grad
            torch.testing.assert_close(stacked.grad[place], torch.zeros_like(stacked[place]) if own is None else own)
    member = stack.member(1)
    assert all(torch.equal(value, gates[1].state_dict()[name]) for name, value in member.state_dict().items())


def test_a_member_of_a_stack_is_the_network_it_was_made_of() -> None:
    nets = [EdgeMaskNet(NeighbourGate(D, WIDTH, CLASSES, hidden=3), D, WIDTH) for _ in range(2)]
    for net in nets:
        net.standardise(3 + torch.randn(9, D), torch.randn(5, WIDTH))
        net.load_state_dict({**net.state_dict(), **dict(nets[0].named_buffers())})
    stack = stack_of(nets)
    for place, net in enumerate(nets):
        torch.testing.assert_close(member_of(stack, place)(*inputs()), net(*inputs()))
        torch.testing.assert_close(stack(*inputs())[place], net(*inputs()))
    with pytest.raises(TypeError, match="a stack of networks"):
        member_of(nets[0], 0)
    with pytest.raises(ValueError, match="one class and shape"):
        GateStack([build(FactorisedGate), build(NeighbourGate)])
    with pytest.raises(ValueError, match="one class and shape"):
        GateStack([build(ConcatGate), build(DirectedGate)])  # of one shape, and yet not the same function


def test_with_many_classes_nothing_is_made_for_each_of_them_and_each_unit() -> None:
    """Of every pair of 30 classes: 900 output rows; all answers of 2,000 units would be 1.8 million numbers."""
    from torch.utils._python_dispatch import TorchDispatchMode

    largest = 0

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            nonlocal largest
            out = func(*args, **(kwargs or {}))
            for value in out if isinstance(out, tuple | list) else (out,):
                largest = max(largest, value.numel() if isinstance(value, Tensor) else 0)
            return out

    gate, units = FactorisedGate(D, WIDTH, 900, hidden=8), 2000
    z, pair, owner = torch.randn(50, D), torch.randint(50, (2, units)), torch.zeros(units, dtype=torch.long)
    with Watch(), torch.no_grad():
        gate(z, torch.randn(1, WIDTH), torch.tensor([899]), pair, owner)
    assert largest <= units * 8
