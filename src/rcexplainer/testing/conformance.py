"""All checks that a method passes, and one call that runs them."""

from collections.abc import Callable, Collection

from rcexplainer.method.base import Method
from rcexplainer.testing import input_checks, score_checks, task_checks
from rcexplainer.testing.expectation import ConformanceError
from rcexplainer.testing.method_case import Judge, MethodCase, fidelity_drop
from rcexplainer.testing.sample_networks import LayerName

ConformanceCheck = Callable[[MethodCase], None]
CHECKS: tuple[ConformanceCheck, ...] = (
    score_checks.scores_are_numbers_from_0_to_1,
    score_checks.scores_are_the_same_alone_and_in_a_batch,
    score_checks.same_seed_same_scores,
    score_checks.scores_follow_the_model,
    score_checks.scores_are_better_than_random,
    input_checks.the_model_is_left_as_it_was,
    input_checks.the_model_is_left_as_it_was_when_it_raises,
    input_checks.a_graph_without_edges_has_no_scores,
    input_checks.bad_graphs_are_refused_and_the_others_explained,
    task_checks.nodes_are_explained,
    task_checks.links_are_explained,
    task_checks.counterfactuals_lead_to_the_target_class,
    task_checks.scores_do_not_depend_on_the_target_class,
    task_checks.impossible_settings_are_refused,
)


def check_method(
    make: Callable[..., Method],
    *,
    judge: Judge = fidelity_drop,
    conv: LayerName = "graphconv",
    skip: Collection[str] = (),
) -> None:
    """Run all checks on a method.

    Args:
        make: Makes the method: the class, or a `functools.partial` of it with settings.
        judge: The measure in which it has to beat random scores: `fidelity_drop` or `motif_score`.
        conv: The layers of the networks that are explained, as in `rc.gnn.GNNConfig`.
        skip: Names of checks that do not apply, such as `scores_follow_the_model` for scores that ignore the model.

    Raises:
        ConformanceError: Naming every check that fails, and why; or a name in `skip` that is no check.
    """
    case = MethodCase(make, judge, conv)
    if unknown := sorted(set(skip) - {check.__name__ for check in CHECKS}):
        raise ConformanceError(f"there is no check {unknown[0]}; rc.testing.CHECKS has them all")
    asked = [check for check in CHECKS if check.__name__ not in skip]
    failed = {check.__name__: reason for check in asked if (reason := _failure(check, case)) is not None}
    if failed:
        lines = "\n".join(f"  {name}: {reason}" for name, reason in failed.items())
        raise ConformanceError(f"{len(failed)} of {len(asked)} checks fail:\n{lines}")


def _failure(check: ConformanceCheck, case: MethodCase) -> str | None:
    """Why the method fails the check, or None."""
    try:
        check(case)
    except Exception as error:  # noqa: BLE001  a method may raise anything
        return f"{type(error).__name__}: {error}"
    return None
