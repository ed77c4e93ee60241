"""One harness: networks × methods × measures → tables.

An evaluation (`evaluate`) is one loop, over random seeds and methods. What differs between evaluations is a `Plan`:

    case           Case: a trained network on a dataset, what methods may learn from, the instances they explain
    methods        METHODS: every method by name, how it is made and fitted for a case
    measures       functions of explanations: counterfactuals, edge sets, motif flips; beside them cost and reliance
    plan           Plan: which instances are explained, what is measured, how it is summarised and shown
                   Evaluation: the results of every seed and method; `.tables()` for a terminal, `.to_json()` for all

The plans, and the option of `evaluate` that chooses each:

    graph_plan        graph sets: the test graphs of each class, predicted as it and labelled as it
    motif_plan        node and link sets: the motifs that the method was not fitted on
    paper_plan        protocol="paper": fitted and evaluated on the same graphs of one class, as in the paper
    comparison_plan   methods=[...] or "all": all of them on one sample of held-out instances

All but the last measure groups of instances with one function, `GroupMeasurement` (groups); the last uses `measure`
(measurement), which is what `rcexplainer reproduce` runs. With `out`, a folder, each result is written as soon as it is
finished, and an evaluation that was stopped resumes from it (archive).
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rcexplainer.benchmark.harness import evaluate
    from rcexplainer.benchmark.plan import Evaluation

__all__ = ["Evaluation", "evaluate"]


def __getattr__(name: str) -> Any:
    """The two public names, loaded when first used: other modules of this package are imported without them."""
    if name == "evaluate":
        from rcexplainer.benchmark.harness import evaluate

        return evaluate
    if name == "Evaluation":
        from rcexplainer.benchmark.plan import Evaluation

        return Evaluation
    raise AttributeError(f"module 'rcexplainer.benchmark' has no attribute {name!r}")
