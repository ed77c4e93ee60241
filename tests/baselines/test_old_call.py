"""Until 0.3 `task` and `hops` may be given to `fit`, where they were in 0.1; each such call warns once."""

import pytest
import torch

from rcexplainer.baselines import Gradient, SubgraphX
from tests.baselines.marked import STAR, CountsMarks, marked_graph


def test_the_old_call_works_and_warns() -> None:
    model, graph = CountsMarks("node", 0.5), marked_graph(STAR, [3])
    method = Gradient()
    message = (
        r"task=…, hops=… belongs to the constructor: Gradient\(task=…, hops=…\).fit\(…\); fit accepts it until 0.4"
    )
    with pytest.warns(DeprecationWarning, match=message) as warned:
        old = method.fit(model, graph, task="node", hops=1)
    assert len(warned) == 1
    assert warned[0].filename == __file__
    new = Gradient(task="node", hops=1).fit(model, graph)
    assert old.hops == new.hops == 1
    assert torch.equal(old.explain(graph, index=0).edge_scores, new.explain(graph, index=0).edge_scores)
    assert method.task == "graph"  # the method itself is as it was made


def test_settings_stay_with_the_old_call() -> None:
    graph = marked_graph(STAR, [1, 2])
    with pytest.warns(DeprecationWarning, match="task=… belongs to the constructor"):
        fitted = SubgraphX(rollouts=2, samples=5).fit(CountsMarks("node", 1.5), graph, task="node")
    assert fitted.scores.unit_scores.__self__.rollouts == 2


def test_no_other_argument_has_moved() -> None:
    with pytest.raises(TypeError, match=r"Gradient.fit has no argument epochs; it has model, graphs, index"):
        Gradient().fit(CountsMarks("node", 0.5), marked_graph(STAR, [3]), epochs=3)
