"""The tables of graph sets: their columns, their width, and a difference in place of a ratio."""

from dataclasses import replace

from rcexplainer.metrics import Fidelity, RegionAgreement


def test_columns_and_width(found) -> None:
    first, headline, own, costs = found("graphs").tables()
    shown = ("class", "graphs", "greedy flips", "motif flips", "motif alone", "idle edges", "other edges", "two flip")
    assert tuple(first[0][0]) == (*shown, "edgeless")
    sparsities = (".95", ".90", ".85", ".80", ".75")
    rest = ("ratio", "above", "AUC", "robust", "robust, strict", "flipped", "size")
    assert tuple(headline[0][0]) == ("class", "method", *sparsities, *rest)
    ours = ("class", "graphs", ".90", ".80", "ratio", "flipped", "size", "edges", "minimal", "regions", "p")
    assert tuple(own[0][0]) == ours
    assert "nothing to compare, there is one region per class" in own[1]  # two classes and a linear head
    assert tuple(costs[0][0]) == ("method", "fit s", "one graph ms", "batch ms", "failed")
    assert "the paper's (about half of it really changes edges" in headline[1]
    for rows, caption in (first, headline, own, costs):
        assert caption
        widths = [max(len(str(row[name])) for row in [*rows, {name: name}]) for name in rows[0]]
        assert sum(widths) + 2 * len(widths) <= 110


def test_agreement_within_regions_is_shown_where_it_was_measured(found) -> None:
    evaluation = found("graphs")
    agreement = RegionAgreement(0.5, 0.25, 3, 9, 0.01, 1, 0.02)
    results = tuple(
        replace(one, groups=tuple(replace(group, region_agreement=agreement) for group in one.groups))
        for one in evaluation.results
    )
    rows, caption = replace(evaluation, results=results).tables()[2]
    assert {(row["regions"], row["p"]) for row in rows} == {(".25 (.02)", ".01")}
    assert "regions: how much more alike" in caption


def test_a_ratio_to_nothing_is_a_difference(found) -> None:
    """Where greedy's mean is below .10 the table shows the difference."""
    evaluation = found("graphs")

    def lowered(group, by):
        drop = tuple(by for _ in group.fidelity.drop)
        return replace(group, fidelity=Fidelity(group.fidelity.sparsity, drop, drop))

    results = tuple(
        replace(one, groups=tuple(lowered(group, 0.05 if one.method == "greedy" else 0.02) for group in one.groups))
        for one in evaluation.results
    )
    rows, _ = replace(evaluation, results=results).tables()[1]
    assert {row["ratio"] for row in rows if row["method"] != "greedy"} == {"Δ -.03"}
    assert {row["ratio"] for row in rows if row["method"] == "greedy"} == {"Δ .00"}
