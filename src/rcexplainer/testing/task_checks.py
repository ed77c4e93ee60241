"""Checks of tasks, target classes and settings: what the constructor of every method takes."""

from functools import partial

import torch

from rcexplainer.explanation import Explanation, Failure
from rcexplainer.testing.expectation import expect, expect_refusal
from rcexplainer.testing.method_case import TARGET, MethodCase, explanations
from rcexplainer.testing.sample_graphs import sample_graphs, whole_graph
from rcexplainer.testing.sample_networks import LinkNetwork, predictions, random_network, three_class_network


def nodes_are_explained(case: MethodCase) -> None:
    """Within their computation graphs."""
    graph, nodes = whole_graph(), [0, 3, 5, 9]
    model = random_network(case.conv, "node")
    fitted = case.make(task="node").fit(model, graph, index=nodes, progress=False)
    with torch.no_grad():
        predicted = model(graph.x, graph.edge_index).argmax(1)
    for node, one in zip(nodes, explanations(fitted, graph, index=nodes), strict=True):
        expect(one.index == node, f"node {node} has the explanation of {one.index}")
        expect(one.prediction == int(predicted[node]), f"node {node} has another prediction than the model gives")
        expect(len(one.unit_scores.unique()) > 1, "all edges of a node's computation graph have the same score")
        outside = torch.ones(graph.num_edges, dtype=torch.bool)
        outside[one.edge_ids] = False
        expect(not one.edge_scores[outside].any(), "edges outside the computation graph have scores")


def links_are_explained(case: MethodCase) -> None:
    """Pairs of nodes."""
    graph, pairs = whole_graph(), [(0, 5), (3, 9), (2, 11)]
    fitted = case.make(task="link").fit(LinkNetwork(case.conv, pairs).eval(), graph, index=pairs, progress=False)
    for pair, one in zip(pairs, explanations(fitted, graph, index=pairs), strict=True):
        expect(one.index == pair, f"link {pair} has the explanation of {one.index}")
        expect(len(one.unit_scores.unique()) > 1, "all edges of a link's computation graph have the same score")


def counterfactuals_lead_to_the_target_class(case: MethodCase) -> None:
    """To that class and no other; graphs that are predicted so already are refused."""
    model, graphs = three_class_network(case.conv), sample_graphs()
    found = case.targeted.explain(graphs, search="greedy", on_error="keep")
    for label, one in zip(predictions(model, graphs).tolist(), found, strict=True):
        if isinstance(one, Failure):
            refused = label == TARGET and "is predicted already" in str(one.error)
            expect(refused, f"a graph of class {label} is refused with {one.error!r}")
            continue
        expect(label != TARGET, "a graph that is predicted as the target class is explained")
        if one.counterfactual is not None and one.counterfactual.flipped:
            reached = int(predictions(model, [one.counterfactual.graph]))
            expect(reached == TARGET, f"a counterfactual leads to class {reached}, not to {TARGET}")
        else:
            expect(one.counterfactual is not None, "there is no counterfactual")


def scores_do_not_depend_on_the_target_class(case: MethodCase) -> None:
    """Except for a method that is trained for the class, as RCExplainer is."""
    graphs = sample_graphs()
    plain = explanations(case.fit(three_class_network(case.conv)), graphs, search="none")
    towards = case.targeted.explain(graphs, search="none", on_error="keep")
    for one, other in zip(plain, towards, strict=True):
        if isinstance(other, Explanation):
            torch.testing.assert_close(one.edge_scores, other.edge_scores, atol=1e-5, rtol=0)


def impossible_settings_are_refused(case: MethodCase) -> None:
    """Unknown names, tasks and classes, with an `RCExplainerError`."""
    expect_refusal(partial(case.make, no_such_setting=1), "the setting no_such_setting")
    expect_refusal(partial(case.make, task="nodes"), 'task="nodes"')
    expect_refusal(partial(case.make, target_class="first"), 'target_class="first"')
    expect_refusal(partial(case.make, task="node", hops=0), "hops=0")
    expect_refusal(
        partial(case.fit, random_network(case.conv), target_class=2), "target_class=2 with a model of two classes"
    )
