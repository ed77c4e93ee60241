"""How the rows of a dataset are explained."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from rcexplainer.core.budget import Budget, Seconds, checked_budget
from rcexplainer.disclosure import Disclosure, checked_disclosure, refuse_withheld
from rcexplainer.errors import RCExplainerError
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.method.results import Search


@dataclass(frozen=True)
class RowOptions:
    """How rows are explained; all but `scores` are as for `FittedExplainer.explain`.

    Attributes:
        search: none, prefix or greedy.
        target_class: The class that counterfactuals must have; None: any other.
        budget: What the search may cost for each row.
        confidence: The probability that another class must reach.
        refine: Model runs to spend on each ranking; None: none.
        scores: Edge scores to keep: none, those of all edges, or of the k best.
        disclose: What rows tell; columns of what is withheld are null, or not there.
    """

    search: Search = "prefix"
    target_class: int | None = None
    budget: Budget = None
    confidence: float | None = None
    refine: int | None = None
    scores: int | Literal["none", "all"] = "none"
    disclose: Disclosure = "scores"

    def __post_init__(self) -> None:
        checked_budget(self.budget)
        whole = isinstance(self.scores, int) and not isinstance(self.scores, bool)
        if self.scores not in ("none", "all") and not (whole and int(self.scores) > 0):
            raise RCExplainerError(f"scores must be none, all or a number of edges such as 10, got {self.scores!r}")

        checked_disclosure(self.disclose)
        if self.scores != "none":
            refuse_withheld(f"scores={self.scores!r}", "scores", self.disclose)

    @property
    def searched(self) -> bool:
        """Whether rows have a counterfactual."""
        return self.search != "none" and self.disclose != "prediction"

    def explained(self, fitted: FittedExplainer, graphs: Any) -> Any:
        """Explain graphs; one that fails keeps its place."""
        return fitted.explain(
            graphs,
            search=self.search,
            target_class=self.target_class,
            budget=self.budget,
            confidence=self.confidence,
            refine=self.refine,
            on_error="keep",
            disclose=self.disclose,
        )

    def values(self) -> dict[str, Any]:
        """As JSON values."""
        budget = f"{self.budget.seconds} s" if isinstance(self.budget, Seconds) else self.budget
        return {**asdict(self), "budget": budget}
