"""`rc.viz.page`: explanations, and with their explainer real predictions after deletions, in one HTML file."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rcexplainer.disclosure import refuse_withheld
from rcexplainer.errors import RCExplainerError
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.method.fitted_check import check_fitted
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.saving.files import named_file, write_whole
from rcexplainer.viz.page.contents import Results, make_document
from rcexplainer.viz.page.curves import DeletionCurve, deletion_curves
from rcexplainer.viz.page.render import render_page

PAGE_SUFFIXES = (".html", ".htm")


def page(
    explanations: Explanation | Results | Mapping[str, Results],
    path: str | Path,
    fitted: FittedExplainer | None = None,
    *,
    title: str = "Explanations",
    names: Sequence[str] | None = None,
    node_names: Sequence[str] = (),
    edge_names: Sequence[str] = (),
) -> Path:
    """Write explanations to one HTML file, which opens in any browser and needs no network.

    Args:
        explanations: Explanations; or a dict from the names of methods to their explanations of the same instances.
        path: The file, which ends in .html; its folder is made if needed.
        fitted: The explainer that made them, or any of the same model. It runs the model to find the prediction after
            deleting the first 1, 2, … edges and after deleting each edge alone. None: the page has neither.
        title: Heading of the page.
        names: What instances are called whose graph has no `id`; their numbers by default.
        node_names: What each one-hot node feature stands for, such as an element.
        edge_names: What each one-hot entry of `edge_attr` stands for, such as a kind of bond.

    Returns:
        The path.

    Raises:
        RCExplainerError: There is nothing to show, the methods do not explain the same instances, `fitted` is of
            another model, scores are withheld, or the path does not end in .html.
    """
    if not isinstance(path, str | Path):
        raise RCExplainerError(
            f"page(explanations, path, fitted): path must name a file, such as 'page.html', got {type(path).__name__}"
        )
    path = checked_page_path(named_file(path, "page(explanations, path, fitted)"))
    results = _by_method(explanations)
    if fitted is not None:
        check_fitted("page(explanations, path, fitted)", fitted, "split")
    number = max(map(len, results.values()), default=0)
    if names is not None and len(names) != number:
        raise RCExplainerError(f"names must have one text for each of {number} instances, got {len(names)}")
    curves = None if fitted is None else {method: _curves(fitted, own) for method, own in results.items()}
    document = make_document(results, curves, title, names, node_names, edge_names)
    return write_whole(path, render_page(document).encode(errors="replace"))  # halves of characters cannot be written


def checked_page_path(path: Path) -> Path:
    """Return the path of a page.

    Args:
        path: The file.

    Returns:
        The path.

    Raises:
        RCExplainerError: It does not end in .html.
    """
    if path.suffix.lower() not in PAGE_SUFFIXES:
        raise RCExplainerError(f"the file of a page must end in .html, got {path.name!r}")
    return path


def _by_method(explanations: Explanation | Results | Mapping[str, Results]) -> dict[str, Results]:
    """The results of each method; a single method needs no name."""
    if isinstance(explanations, Explanation | Failure):
        return {"": [explanations]}
    named = explanations if isinstance(explanations, Mapping) else {"": explanations}
    results: dict[str, Results] = {str(method): list(own) for method, own in named.items()}
    for one in (one for own in results.values() for one in own):
        if not isinstance(one, Explanation | Failure):
            raise RCExplainerError(
                f"a page takes explanations, such as those of fitted.explain(graphs), got {type(one).__name__}"
            )
        if isinstance(one, Explanation):
            refuse_withheld("a page", "scores", one.disclosed)
    return results


def _curves(fitted: FittedExplainer, results: Results) -> list[DeletionCurve | None]:
    """The deletion curve of every explanation; None for a failure."""
    good = [one for one in results if isinstance(one, Explanation)]
    found = iter(deletion_curves(fitted.split, good))
    return [next(found) if isinstance(one, Explanation) else None for one in results]
