"""The loop: it learns, stops early, keeps the best weights, and goes on where it was killed."""

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from rcexplainer.core.training import Schedule, Training, constant, cosine

X = torch.randn(40, 3, generator=torch.Generator().manual_seed(1))
Y = X @ torch.tensor([1.0, -2.0, 0.5])


def make(epochs: int = 6, patience: int = 100, lr: float = 0.05, validate=None) -> Training:
    torch.manual_seed(0)
    net = nn.Linear(3, 1)

    def loss(ids: Tensor, progress: float) -> dict[str, Tensor]:
        error = (net(X[ids]).squeeze(1) - Y[ids]).square().mean()
        return {"error": error, "size": 0.0 * net.weight.square().sum()}

    def held() -> float:
        return loss(torch.arange(30, 40), 1.0)["error"].item()

    generator = torch.Generator().manual_seed(0)
    return Training(net, loss, validate or held, torch.arange(30), generator, Schedule(epochs, lr, 8, patience))


def weights(run: Training) -> list[float]:
    return [value for parameter in run.net.parameters() for value in parameter.flatten().tolist()]


def test_it_learns_and_tells_of_every_term() -> None:
    history = list(make(epochs=60))
    assert [epoch.number for epoch in history] == list(range(60))
    assert history[-1].terms.keys() == {"error", "size"}
    assert history[-1].val < 0.05 * history[0].val


def test_the_learning_rate_decays_along_half_a_cosine() -> None:
    assert [cosine(p) for p in (0.0, 0.5, 1.0)] == pytest.approx([1.0, 0.5, 0.0], abs=1e-9)
    assert constant(0.3) == 1.0


def test_it_stops_early_and_ends_with_the_weights_of_the_best_epoch() -> None:
    values = iter([3.0, 1.0, 2.0, 2.0, 2.0, 9.0])
    run = make(epochs=6, patience=3, validate=lambda: next(values))
    best: list[float] = []
    for epoch in run:
        if epoch.best:
            best = weights(run)
    assert [epoch.best for epoch in run.history] == [True, True, False, False, False]
    assert weights(run) == best


@pytest.mark.parametrize("after", [1, 3, 6])
def test_killed_and_started_again_it_ends_as_if_nothing_had_happened(after: int) -> None:
    whole = make()
    list(whole)
    killed = make()
    for epoch in killed:
        state = killed.state()
        if epoch.number == after - 1:
            break
    resumed = make()
    with torch.no_grad():  # another start, which must not matter
        resumed.net.weight.add_(1.0)
    resumed.restore(*state)
    list(resumed)
    assert weights(resumed) == weights(whole)
    assert resumed.history == whole.history


def test_what_is_kept_are_plain_tensors_and_json() -> None:
    run = make(epochs=2)
    list(run)
    tensors, text = run.state()
    assert all(isinstance(value, Tensor) for value in tensors.values())
    assert '"error"' in text


def test_a_validation_loss_that_is_no_number_is_never_the_best() -> None:
    values = iter([1.0, math.nan, 0.5])
    run = make(epochs=3, validate=lambda: next(values))
    assert [epoch.best for epoch in run] == [True, False, True]


def test_of_equal_epochs_the_first_is_the_best() -> None:
    run = make(epochs=6, patience=2, validate=lambda: 1.0)
    assert [epoch.best for epoch in run] == [True, False, False]


def test_the_last_weights_may_be_kept() -> None:
    values = iter([1.0, 2.0, 3.0])
    run = make(epochs=3, validate=lambda: next(values))
    run.schedule = replace(run.schedule, keep_last=True)
    for _ in run:
        last = weights(run)
    assert weights(run) == last


def test_terms_are_means_over_instances_and_progress_grows_within_an_epoch() -> None:
    """30 instances in batches of 8, 8, 8 and 6."""
    run = make(epochs=2)
    seen: list[float] = []

    def loss(ids: Tensor, progress: float) -> dict[str, Tensor]:
        seen.append(progress)
        return {"number": ids.float().mean() + 0 * run.net.weight.sum()}

    run.loss = loss
    assert [epoch.terms["number"] for epoch in run] == pytest.approx([14.5, 14.5])
    assert seen == pytest.approx([place / 8 for place in range(8)])


def test_it_trains_where_gradients_are_switched_off() -> None:
    with torch.no_grad():
        run = make()
        list(run)
    plain = make()
    list(plain)
    assert weights(run) == weights(plain)


def test_started_again_it_remembers_the_best_epoch() -> None:
    before = make(patience=2, validate=iter([1.0, 3.0]).__next__)
    steps = iter(before)
    next(steps), next(steps)
    again = make(patience=2, validate=iter([2.0, 2.0]).__next__)
    again.restore(*before.state())
    assert [epoch.best for epoch in again] == [False]
    assert [epoch.val for epoch in again.history] == [1.0, 3.0, 2.0]


def make_two(epochs: int = 6, patience: int = 100, validate=None) -> Training:
    """Two linear models side by side, with weights of their own."""

    class Both(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.tensor([[0.1, 0.2, 0.3], [-1.0, 0.0, 2.0]]))

    net = Both()

    def loss(ids: Tensor, progress: float) -> dict[str, Tensor]:
        return {"error": (X[ids] @ net.weight.T - Y[ids, None]).square().mean(0)}

    def held() -> Tensor:
        return loss(torch.arange(30, 40), 1.0)["error"].detach()

    generator = torch.Generator().manual_seed(0)
    schedule = Schedule(epochs, 0.05, 8, patience)
    return Training(net, loss, validate or held, torch.arange(30), generator, schedule, members=2)


def test_networks_side_by_side_are_trained_as_if_alone() -> None:
    both = make_two()
    list(both)
    for place in range(2):
        alone = make()
        with torch.no_grad():
            alone.net = nn.Linear(3, 1, bias=False)
            alone.net.weight.copy_(make_two().net.weight[place : place + 1])
        alone.optimizer = torch.optim.Adam(alone.net.parameters(), lr=0.05)
        alone.best = {"weight": alone.net.weight.detach().clone()}
        net = alone.net
        alone.loss = lambda ids, progress, net=net: {"error": (net(X[ids]).squeeze(1) - Y[ids]).square().mean()}
        alone.validate = lambda loss=alone.loss: loss(torch.arange(30, 40), 1.0)["error"].item()
        list(alone)
        torch.testing.assert_close(both.net.weight[place], net.weight[0].detach())
        assert [epoch.val for epoch in both.histories[place]] == pytest.approx([epoch.val for epoch in alone.history])


def test_each_network_keeps_its_own_best_weights_and_stops_for_itself() -> None:
    values = iter([[3.0, 1.0], [2.0, 2.0], [2.5, 2.0], [2.5, 0.0], [2.5, 0.0]])
    run = make_two(patience=2, validate=lambda: torch.tensor(next(values)))
    weights = [run.net.weight.detach().clone() for _ in run]
    # The second network ran out of patience after the third epoch: what came then does not count for it.
    assert [epoch.val for epoch in run.histories[0]] == [3.0, 2.0, 2.5, 2.5]
    assert [epoch.val for epoch in run.histories[1]] == [1.0, 2.0, 2.0]
    assert torch.equal(run.net.weight[0], weights[1][0])
    assert torch.equal(run.net.weight[1], weights[0][1])


def test_networks_side_by_side_go_on_where_they_were_killed() -> None:
    whole, killed, again = make_two(), make_two(), make_two()
    list(whole)
    steps = iter(killed)
    next(steps), next(steps)
    again.restore(*killed.state())
    list(again)
    assert torch.equal(again.net.weight, whole.net.weight)
    assert again.histories == whole.histories


@pytest.mark.parametrize(("batch_size", "steps", "sizes"), [
    (8, 2, [8, 8]), (8, 6, [8, 8, 8, 6, 8, 8]), (30, 3, [30] * 3), (99, None, [30]),
])  # fmt: skip
def test_an_epoch_may_be_a_part_of_a_pass_or_several(batch_size: int, steps: int | None, sizes: list[int]) -> None:
    run = make(epochs=1)
    seen: list[list[int]] = []

    def loss(ids: Tensor, progress: float) -> dict[str, Tensor]:
        seen.append(ids.tolist())
        return {"one": 0 * run.net.weight.sum() + 1}

    run.loss, run.schedule = loss, replace(run.schedule, batch_size=batch_size, steps=steps)
    (epoch,) = run
    assert [len(ids) for ids in seen] == sizes
    assert epoch.terms["one"] == pytest.approx(1.0)
    first = [place for ids in seen[:4] for place in ids] if batch_size == 8 else seen[0]
    assert len(set(first)) == len(first)
    if batch_size >= 30:
        assert seen == [list(range(30))] * len(sizes)  # in a single batch the order has no meaning, and stays


def test_the_running_mean_of_the_weights_is_validated_and_kept() -> None:
    run = make(epochs=2)
    run.schedule = replace(run.schedule, averaging=0.5, batch_size=30)
    first, seen = run.net.weight.detach().clone(), []
    plain = run.validate
    run.validate = lambda: (seen.append(run.net.weight.detach().clone()), plain())[1]
    trained = [run.net.weight.detach().clone() for _ in run]
    # After one step the mean remembers (1 + 0) / (10 + 0) of the start, after two (1 + 1) / (10 + 1) of the mean.
    mean = 0.1 * first + 0.9 * trained[0]
    torch.testing.assert_close(seen[0], mean)
    mean = 2 / 11 * mean + 9 / 11 * trained[1]
    torch.testing.assert_close(seen[1], mean)
    torch.testing.assert_close(run.net.weight, mean)  # the second epoch was the better one


def test_the_last_running_mean_may_be_kept() -> None:
    values = iter([1.0, 2.0, 3.0])
    run, seen = make(epochs=3), []
    run.validate = lambda: (seen.append(run.net.weight.detach().clone()), next(values))[1]
    run.schedule = replace(run.schedule, averaging=0.9, keep_last=True)
    list(run)
    assert torch.equal(run.net.weight, seen[-1])


@pytest.mark.parametrize("last", [False, True])
def test_a_running_mean_survives_a_restart(last: bool) -> None:
    def averaged() -> Training:
        run = make()
        run.schedule = replace(run.schedule, averaging=0.9, keep_last=last)
        return run

    whole, killed, again = averaged(), averaged(), averaged()
    list(whole)
    steps = iter(killed)
    next(steps), next(steps)
    again.restore(*killed.state())
    list(again)
    assert weights(again) == weights(whole)


def test_a_network_that_stops_before_the_others_keeps_its_last_weights_of_then() -> None:
    weights, losses = [], iter(range(1, 100))
    net = nn.Module()
    net.w = nn.Parameter(torch.zeros(2, 1))

    def validate() -> torch.Tensor:
        now = float(next(losses))
        weights.append(net.w.detach().clone())
        return torch.tensor([now, -now])  # the first only gets worse, the second better

    schedule = Schedule(20, 0.1, 4, 2, lambda progress: 1.0, keep_last=True)
    run = Training(
        net, lambda ids, progress: {"loss": -net.w.sum(1)}, validate, torch.arange(4), torch.Generator(), schedule, 2
    )
    list(run)
    assert [len(own) for own in run.histories] == [3, 20]
    assert net.w[0].item() == weights[2][0].item()
    assert net.w[1].item() == weights[19][1].item()


def test_a_pass_named_by_its_number_of_steps_is_a_pass() -> None:
    """30 instances in batches of 8: four steps."""
    plain, named = make(), make()
    named.schedule = replace(named.schedule, steps=4)
    assert list(named) == list(plain)
    assert weights(named) == weights(plain)


def test_the_running_mean_counts_steps_not_epochs() -> None:
    run, before = make(epochs=2), []
    run.schedule = replace(run.schedule, averaging=0.99, batch_size=10)
    plain = run.loss
    run.loss = lambda ids, progress: (before.append(run.net.weight.detach().clone()), plain(ids, progress))[1]
    seen, held = [], run.validate
    run.validate = lambda: (seen.append(run.net.weight.detach().clone()), held())[1]
    trained = [run.net.weight.detach().clone() for _ in run]
    after = [*before[1:3], trained[0], *before[4:6], trained[1]]  # each of the six steps
    mean = before[0]
    for step, now in enumerate(after):
        share = (1 + step) / (10 + step)
        mean = share * mean + (1 - share) * now
        if step % 3 == 2:
            torch.testing.assert_close(seen[step // 3], mean)


def test_the_learning_rate_follows_its_decay() -> None:
    """The first step of Adam moves every weight by the learning rate, whatever the gradient."""
    run = make(epochs=1)
    run.schedule = replace(run.schedule, lr=0.1, batch_size=30, decay=lambda progress: 0.25 + progress, keep_last=True)
    first = run.net.weight.detach().clone()
    list(run)
    torch.testing.assert_close((run.net.weight - first).abs(), torch.full((1, 3), 0.025), rtol=1e-3, atol=0)


def test_a_loss_that_is_never_a_number_runs_out_of_patience_like_one_that_stays() -> None:
    run = make(epochs=6, patience=2, validate=lambda: math.nan)
    assert len(list(run)) == len(list(make(epochs=6, patience=2, validate=lambda: 1.0))) == 3


def test_without_patience_the_first_epoch_is_the_last() -> None:
    assert len(list(make(epochs=6, patience=0, validate=lambda: 1.0))) == 1


def test_one_network_has_one_history() -> None:
    run = make(epochs=2)
    list(run)
    assert run.histories == [run.history]
