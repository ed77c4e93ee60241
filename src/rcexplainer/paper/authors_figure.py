"""The figure of the authors' protocol: fidelity by sparsity on the graphs that methods were fitted on."""

from rcexplainer.paper.authors_protocol import AUTHORS_SPARSITIES
from rcexplainer.paper.figure_style import BANDS, PUBLISHED, PaperFigure, interval, transposed
from rcexplainer.paper.result_groups import EntrySettings, TaggedResults, done_groups, reported
from rcexplainer.viz.charts import BOLD, PENS, REFERENCE, TEXT, Series, beside, draw_curves, draw_points, panels


def authors_figure(settings: EntrySettings, found: TaggedResults) -> list[PaperFigure]:
    """A panel for each dataset, a curve for each variant, and the authors' own numbers.

    Args:
        settings: The entry's.
        found: Its results.

    Returns:
        The figure; none without results.
    """
    groups = done_groups(found)
    if not groups:
        return []
    names = list(dict.fromkeys(name for methods in groups.values() for name in methods))
    pens = {"released": BOLD, "greedy": REFERENCE}
    others = iter(PENS)
    pens |= {name: next(others) for name in names if name not in pens}
    figure, axes = panels(1, len(groups), sharey=True)
    for place, ((dataset, _), methods) in enumerate(groups.items()):
        own = axes[0][place]
        curves = {
            name: [
                interval(one["same"]["fidelity"][step] for one in results) for step in range(len(AUTHORS_SPARSITIES))
            ]
            for name, results in methods.items()
        }
        draw_curves(
            own, [Series(name, pens[name], AUTHORS_SPARSITIES, *transposed(band)) for name, band in curves.items()]
        )
        for source, values in reported(settings, dataset).items():
            if source.startswith("the authors"):
                x = tuple(float(share) for share in values)
                draw_points(own, Series("the authors'", PUBLISHED, x, tuple(values.values())))
        own.set_title(dataset, fontsize=TEXT, loc="left")
        own.set_xlabel("sparsity", fontsize=TEXT)
    axes[0][0].set_ylabel("fidelity ↑", fontsize=TEXT)
    shown = {text: handle for own in axes[0] for handle, text in zip(*own.get_legend_handles_labels(), strict=True)}
    beside(axes[0][-1], "", list(shown.values()), list(shown))
    caption = (
        "Fidelity by the authors' protocol: networks trained as theirs, methods fitted and measured on the same graphs "
        f"of one class, edges really deleted, ↑. Hollow marks: the authors' own network and explainer. {BANDS}"
    )
    return [PaperFigure("authors", caption, figure)]
