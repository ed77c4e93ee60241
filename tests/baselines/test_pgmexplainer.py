"""PGM-Explainer: its tests by hand, and explanations whose reasons are known."""

import math

import pytest
import torch
from torch import Tensor

from rcexplainer.baselines import Random
from rcexplainer.baselines.pgmexplainer import PGMExplainer, blanket, chi_square, confidence_drops
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn import split_model
from rcexplainer.gnn.instances import Instances
from rcexplainer.metrics import fidelity, motif_auc
from rcexplainer.testing.sample_networks import motif_network
from tests.baselines.marked import (
    LOLLIPOP,
    STAR,
    CountsMarks,
    check_marked_neighbours_of_a_link,
    marked_graph,
    score_of,
)


def table(counts: list[list[int]]) -> tuple[Tensor, Tensor]:
    """Samples with these counts of each (x, t): x in one column, and t."""
    rows = [(x, t) for x, line in enumerate(counts) for t, count in enumerate(line) for _ in range(count)]
    known, changed = torch.tensor(rows).T
    return known[:, None], changed.bool()


def test_chi_square_of_a_table() -> None:
    # All margins are 40 of 80, so 20 are expected in each cell: 4 · 10² / 20.
    statistic, p_value = chi_square(*table([[30, 10], [10, 30]]))
    assert statistic.tolist() == pytest.approx([20.0])
    assert p_value.tolist() == pytest.approx([7.744216e-06], rel=1e-6)
    statistic, p_value = chi_square(*table([[20, 10], [40, 20]]))
    assert statistic.tolist() == pytest.approx([0.0])
    assert p_value.tolist() == pytest.approx([1.0])


def test_chi_square_of_more_states_has_more_freedom() -> None:
    # Expected are 10 in every cell; with 2 degrees of freedom p = exp(−χ² / 2).
    statistic, p_value = chi_square(*table([[15, 5], [10, 10], [5, 15]]))
    assert statistic.tolist() == pytest.approx([10.0])
    assert p_value.tolist() == pytest.approx([math.exp(-5.0)])


def test_given_others_the_tables_are_added() -> None:
    first, second = table([[30, 10], [10, 30]]), table([[25, 15], [15, 25]])
    known = torch.cat([first[0], second[0]])
    stratum = torch.arange(2).repeat_interleave(80)[:, None]
    statistic, p_value = chi_square(torch.cat([known, stratum], 1), torch.cat([first[1], second[1]]), [1])
    assert float(statistic[0]) == pytest.approx(20.0 + 4 * 5**2 / 20)
    assert float(p_value[0]) == pytest.approx(math.exp(-25.0 / 2))
    assert float(p_value[1]) == 1.0  # given itself it says nothing


def test_what_never_changes_depends_on_nothing() -> None:
    statistic, p_value = chi_square(torch.randint(2, (100, 3), generator=torch.Generator()), torch.zeros(100).bool())
    assert statistic.tolist() == [0, 0, 0]
    assert p_value.tolist() == [1, 1, 1]


def test_the_blanket_leaves_out_what_others_explain() -> None:
    random = torch.Generator().manual_seed(0)
    known = torch.randint(2, (2000, 5), generator=random)
    follows = torch.rand(2000, generator=random) < 0.9
    known[:, 3] = torch.where(follows, known[:, 1], known[:, 3])  # a shadow of 1
    changed = (known[:, 1] == 1) & (known[:, 4] == 1)
    assert float(chi_square(known, changed)[1][3]) < 1e-10
    assert sorted(blanket(known, changed, 0.001, [])) == [1, 4]
    assert sorted(blanket(known, changed, 0.001, [1])) == [3, 4]  # without 1 its shadow tells something


def test_drops_are_those_of_each_copy() -> None:
    graphs = [marked_graph(LOLLIPOP, [0, 1, 2])]
    model = CountsMarks("graph", 4.5)
    instances = Instances(split_model(model, graphs), graphs)
    perturbed = torch.zeros(3, 9, dtype=torch.bool)
    perturbed[1, [0, 8]] = True  # two edges of the 7 no longer have a marked end
    perturbed[2, [0, 1]] = True
    expected = [1 / (1 + math.exp(-8 * (marks - 4.5))) for marks in (7, 5, 3)]
    drops = confidence_drops(instances, 0, perturbed)
    torch.testing.assert_close(drops, torch.tensor([[expected[0] - p] for p in expected]), atol=1e-6, rtol=0)


def test_edges_between_marked_nodes_explain_a_graph() -> None:
    graph = marked_graph(LOLLIPOP, [0, 1, 2])
    fitted = PGMExplainer(samples=400).fit(CountsMarks("graph", 4.5), graph)
    found = fitted.explain(graph, search="none")
    assert found.top(3).nonzero().flatten().tolist() == [0, 1, 2, 9, 10, 11]
    # Other marks, other scores: what is measured decides.
    other = marked_graph(LOLLIPOP, [3, 4, 5])
    top = fitted.explain(other, search="none").top(2)
    assert {tuple(sorted(pair)) for pair in other.edge_index[:, top].T.tolist()} == {(3, 4), (4, 5)}


def test_marked_neighbours_explain_a_node() -> None:
    graph = marked_graph(STAR, [1, 2])
    found = PGMExplainer(task="node", hops=1).fit(CountsMarks("node", 1.5), graph).explain(graph, index=0)
    assert found.prediction == 1
    assert min(score_of(found, 0, 1), score_of(found, 0, 2)) > 0.5
    assert max(score_of(found, 0, node) for node in (3, 4, 5, 6)) < 0.2
    assert found.counterfactual.flipped
    assert found.counterfactual.minimal


def test_marked_neighbours_explain_a_link() -> None:
    check_marked_neighbours_of_a_link(PGMExplainer)


def test_another_seed_is_another_sample() -> None:
    graph = marked_graph(LOLLIPOP, [0, 1, 2])
    one, other = (
        PGMExplainer(samples=100, seed=seed).fit(CountsMarks("graph", 4.5), graph).explain(graph, search="none")
        for seed in (0, 1)
    )
    assert not torch.equal(one.edge_scores, other.edge_scores)


def test_it_beats_random_on_motifs() -> None:
    model, _, houses = motif_network("graphconv")
    graphs = houses[:8]
    found, random = (method.fit(model, graphs).explain(graphs, search="none") for method in (PGMExplainer(), Random()))
    assert motif_auc(found) > motif_auc(random) + 0.25
    assert fidelity(model, found, [0.95]).drop[0] > fidelity(model, random, [0.95]).drop[0] + 0.25


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"samples": 39}, "samples must be a whole number ≥ 40, got 39"),
        ({"share": 1.0}, "share must be between 0 and 1, got 1.0"),
        ({"threshold": 0.0}, "threshold must be between 0 and 1, got 0.0"),
        ({"significance": -1}, "significance must be between 0 and 1, got -1"),
        ({"sample": 100}, "unknown setting 'sample'; did you mean samples?"),
    ],
)
def test_impossible_settings(settings, message: str) -> None:
    with pytest.raises(RCExplainerError, match=message):
        PGMExplainer(**settings)
