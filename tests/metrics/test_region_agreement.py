"""Agreement of explanations within regions: similarities by hand, planted regions, nothing to compare."""

from itertools import combinations
from types import SimpleNamespace

import pytest
import torch
from torch import tensor

import rcexplainer as rc
from rcexplainer.core.boundaries import LinearBoundaries
from rcexplainer.core.regions import DecisionRegion, Regions
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn import GNN, gnn_config
from rcexplainer.metrics.region_agreement import (
    ONE_REGION,
    SHARED_REGION,
    ClassPairs,
    RegionAgreement,
    compare,
    region_agreement,
    similarities,
)


def with_regions(fitted, regions: Regions) -> SimpleNamespace:
    """The same explainer with other regions."""
    return SimpleNamespace(split=fitted.split, regions=regions, assign=Regions.assign)


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def test_similarities_by_hand() -> None:
    """{a, a, b}, {a, b, b}, {c}: two of four elements are shared, or none."""
    found = similarities(tensor([[2, 1, 0], [1, 2, 0], [0, 0, 1]]))
    assert found.tolist() == [[0, 0.5, 0], [0.5, 0, 0], [0, 0, 0]]


def test_means_by_hand() -> None:
    """One class, regions {0, 1} and {2, 3}; another class with one region counts for nothing."""
    similarity = tensor([[0, 0.8, 0.1, 0.2], [0.8, 0, 0.3, 0.4], [0.1, 0.3, 0, 0.6], [0.2, 0.4, 0.6, 0]]).double()
    alone = ClassPairs(torch.ones(3, 3).double().fill_diagonal_(0), tensor([2, 2, 2]))
    found = compare([ClassPairs(similarity, tensor([0, 0, 1, 1])), alone], 99, generator())
    assert (found.within_pairs, found.across_pairs, found.classes) == (2, 4, 1)
    assert found.within == pytest.approx(0.7)
    assert found.across == pytest.approx(0.25)
    assert found.difference == pytest.approx(0.45)
    # Of the three ways to make two pairs of four instances, this is the one with the largest difference.
    assert 0.2 < found.p_value < 0.5


def test_alike_classes_are_no_regions() -> None:
    """In each class all pairs are equally alike, more so in one: within and across must be the same."""
    classes = [
        ClassPairs(torch.full((6, 6), value).double().fill_diagonal_(0), region)
        for value, region in ((0.9, tensor([0] * 5 + [1])), (0.1, tensor([2, 2, 3, 3, 4, 4])))
    ]
    found = compare(classes, 9, generator())
    assert found.difference == pytest.approx(0.0)
    assert found.p_value == 1.0


def test_planted_regions_are_found_and_random_ones_are_not() -> None:
    groups = torch.arange(40) % 2
    counts = torch.nn.functional.one_hot(groups, 2) * 6 + torch.randint(0, 3, (40, 2), generator=generator())
    similarity = similarities(counts)
    planted = compare([ClassPairs(similarity, groups)], 199, generator())
    assert planted.difference > 0.3
    assert planted.p_value == 1 / 200
    shuffled = compare([ClassPairs(similarity, (torch.arange(40) // 2) % 2)], 199, generator())
    assert abs(shuffled.difference) < 0.05
    assert shuffled.p_value > 0.05


def test_a_permutation_test_is_uniform_without_regions() -> None:
    """Over random regions, p is below a half about half of the time."""
    random = generator()
    counts = torch.randint(0, 4, (20, 5), generator=random)
    values = [
        compare([ClassPairs(similarities(counts), torch.randint(0, 2, (20,), generator=random))], 39, random).p_value
        for _ in range(60)
    ]
    assert 0.25 < sum(value <= 0.5 for value in values) / 60 < 0.75


def test_nothing_to_compare() -> None:
    each_alone = ClassPairs(torch.zeros(3, 3), tensor([0, 1, 2]))
    found = compare([each_alone], 9, generator())
    assert found.note == str(found) == SHARED_REGION
    assert found.within_pairs == 0
    assert found.difference != found.difference


# Real explanations


@pytest.fixture(scope="module")
def explained():
    """Random scores for graphs of two motifs, and a network with random weights."""
    data = rc.datasets.load("motif-unions", num_graphs=24)
    torch.manual_seed(0)
    model = GNN(gnn_config("paper", data.num_features, data.num_classes)).eval()
    fitted = rc.baselines.Random().fit(model, data.graphs, progress=False)
    return fitted, list(fitted.explain(list(data.graphs)))


def halves(fitted, explanations, label: int) -> Regions:
    """Two regions of one class, on either side of the median of the embedding's first coordinate."""
    x = fitted.split.embed([one.graph for one in explanations])
    weight = torch.zeros(1, x.size(1))
    weight[0, 0] = 1.0
    line = LinearBoundaries(weight, -x[:, 0].median()[None], tensor([[label, label + 1]]))
    regions = tuple(DecisionRegion(label, tensor([0]), tensor([sign]), 1, 0) for sign in (1.0, -1.0))
    return Regions(line, regions, torch.ones(2, 1))


@torch.no_grad()
def test_top_edges_are_compared_by_kind(explained) -> None:
    """Against a loop over all pairs."""
    fitted, shown = explained
    label = shown[0].prediction
    own = [one for one in shown if one.prediction == label]
    regions = halves(fitted, own, label)
    found = region_agreement(with_regions(fitted, regions), own, k=4, permutations=19)
    side = fitted.split.embed([one.graph for one in own])[:, 0] + regions.boundaries.bias > 0
    sums: dict[bool, list[float]] = {True: [], False: []}
    for (i, one), (j, other) in combinations(list(enumerate(own)), 2):
        kinds = [_degree_pairs(each, 4) for each in (one, other)]
        shared = sum(min(kinds[0].count(kind), kinds[1].count(kind)) for kind in set(kinds[0]))
        sums[bool(side[i] == side[j])].append(shared / (8 - shared))
    assert (found.within_pairs, found.across_pairs) == (len(sums[True]), len(sums[False]))
    assert found.within == pytest.approx(sum(sums[True]) / len(sums[True]))
    assert found.across == pytest.approx(sum(sums[False]) / len(sums[False]))
    everything = region_agreement(with_regions(fitted, regions), own, k=99, permutations=1)
    assert everything.chance == pytest.approx(everything.difference)  # all edges, drawn or not


def _degree_pairs(one: rc.Explanation, k: int) -> list[tuple[int, int]]:
    pairs = one.units.pair.T.tolist()
    degree = [sum(node in pair for pair in pairs) for node in range(one.graph.num_nodes)]
    best = sorted(range(len(pairs)), key=lambda unit: -float(one.unit_scores[unit]))[:k]
    return [tuple(sorted(degree[node] for node in pairs[unit])) for unit in best]


def test_deleted_edges_are_compared_where_there_is_a_flip(explained) -> None:
    fitted, shown = explained
    label = shown[0].prediction
    regions = halves(fitted, [one for one in shown if one.prediction == label], label)
    found = region_agreement(with_regions(fitted, regions), shown, k=None, permutations=9)
    flipped = [one for one in shown if one.counterfactual.flipped and one.prediction == label]
    assert found.within_pairs + found.across_pairs in (0, len(flipped) * (len(flipped) - 1) // 2)


def test_one_region_per_class_says_so(explained) -> None:
    fitted, shown = explained
    regions = halves(fitted, shown, 0)
    single = Regions(regions.boundaries, regions.regions[:1], torch.ones(1, 1))
    found = region_agreement(with_regions(fitted, single), shown)
    assert found.note == str(found) == ONE_REGION
    with pytest.raises(RCExplainerError, match="must be at least 1, got k=0"):
        region_agreement(with_regions(fitted, single), shown, 0)
    with pytest.raises(RCExplainerError, match="seed must be a whole number from 0 to 2⁶³−1, got 118059162071"):
        region_agreement(with_regions(fitted, single), shown, seed=2**70)


def test_text() -> None:
    found = RegionAgreement(0.5, 0.25, 3, 9, 0.01, 1, 0.125)
    text = "0.50 within a region (3 pairs), 0.25 across (9 pairs), p = 0.010; random edges differ by 0.12"
    assert str(found) == text
