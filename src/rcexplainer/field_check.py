"""What was checked where a graph is too large to be run as a whole: does a wider neighbourhood give the same answer?"""

from dataclasses import dataclass


@dataclass(frozen=True)
class FieldCheck:
    """How a batch of computation graphs was compared with the graph around them.

    Attributes:
        hops: How far computation graphs reach.
        compared: Instances of the batch whose answer was compared with that in a wider neighbourhood; all agreed.
        instances: Instances of the batch.
        wider: How far the wider neighbourhoods reach, each number once; empty if none was within the bound on edges.
        max_edges: The most edges that are read for one computation graph; instances with more are errors.
    """

    hops: int
    compared: int
    instances: int
    wider: tuple[int, ...]
    max_edges: int

    def __str__(self) -> str:
        reach = " or ".join(map(str, self.wider))
        found = (
            f"{self.compared} of {self.instances} instances of the batch answer the same in their {reach}-hop "
            "neighbourhoods"
            if self.compared
            else "no wider neighbourhood is within the bound on edges"
        )
        return f"{self.hops}-hop computation graphs of at most {self.max_edges} edges read; {found}"
