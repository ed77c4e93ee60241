"""Which graphs, nodes or links a command is about: the values of `--index`, and the parts of a split."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from torch_geometric.data import Data

from rcexplainer.benchmark.accuracy import PARTS
from rcexplainer.benchmark.own_dataset import all_instances
from rcexplainer.datasets import GraphDataset
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn.forward import TaskName
from rcexplainer.tasks.index import Pair

EVERY_INSTANCE = "all"
PAIR = re.compile(r"(\d+)[-–](\d+)")

Place = int | Pair  # a graph or a node by its number, a link by its two nodes


@dataclass(frozen=True)
class ChosenInstance:
    """An instance that a command is about.

    Attributes:
        index: As the user names it.
        position: A graph's place in the dataset, the node, or the pair of nodes.
    """

    index: Place
    position: Place


def parse_index(texts: Sequence[str], task: TaskName = "graph") -> list[Place] | None:
    """Read the values of `--index`.

    Args:
        texts: Each holds numbers, or for links pairs such as 0-5, with commas or spaces between them; or the name of a
            file with such text; or `all`.
        task: What the instances are.

    Returns:
        Numbers or pairs in the order given; None for all instances.

    Raises:
        RCExplainerError: A text is none of these.
    """
    if [text.strip().lower() for text in texts] == [EVERY_INSTANCE]:
        return None
    return [place for text in texts for place in _places(text, task)]


def places_of(texts: Sequence[str] | None, task: TaskName) -> list[Place] | None:
    """The instances of `--index`; None where it is not given, or all.

    Args:
        texts: The values of `--index`; None: it is not given.
        task: What the instances are.

    Raises:
        RCExplainerError: As for `parse_index`.
    """
    return None if texts is None else parse_index(texts, task)


def _places(text: str, task: TaskName) -> list[Place]:
    """The numbers or pairs of a text, or of the file that it names."""
    try:
        return [_place(word, task) for word in text.replace(",", " ").split()]
    except ValueError:
        pass
    wanted = "pairs of nodes, such as 0-5 or 0-5,2-9" if task == "link" else "whole numbers, such as 0 or 0,5,7"
    if not Path(text).is_file():
        raise RCExplainerError(f"--index takes {wanted}, got {text!r}; also a file of these, or all")
    for number, line in enumerate(Path(text).read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        for word in line.replace(",", " ").split():
            try:
                _place(word, task)
            except ValueError:
                raise RCExplainerError(f"--index {text}, line {number}: expected {wanted}, got {word!r}") from None
    return _places(" ".join(Path(text).read_text(encoding="utf-8").split()), task)


def _place(word: str, task: TaskName) -> Place:
    if task != "link":
        return int(word)
    pair = PAIR.fullmatch(word)
    if pair is None:
        raise ValueError(word)
    return int(pair[1]), int(pair[2])


def in_part(data: GraphDataset, part: str, index: Sequence[Place] | None) -> list[ChosenInstance]:
    """Choose graphs of one part of a dataset, by their places in it.

    Args:
        data: The dataset.
        part: train, val or test.
        index: Places in the part; None: all of them.

    Raises:
        RCExplainerError: There is no such part or place.
    """
    positions = _part(data, part)
    chosen = []
    for place in range(len(positions)) if index is None else index:
        if not isinstance(place, int) or not 0 <= place < len(positions):
            raise RCExplainerError(
                f"the {part} part has {len(positions)} graphs: an index is from 0 to {len(positions) - 1}, got {place}"
            )
        chosen.append(ChosenInstance(place, positions[place]))
    return chosen


def in_whole(data: GraphDataset, part: str | None, index: Sequence[Place] | None) -> list[ChosenInstance]:
    """Choose graphs, nodes or links by their own numbers.

    Args:
        data: The dataset.
        part: Only those of train, val or test; None: all of them.
        index: Graphs by their place in the dataset, nodes by their number, links as pairs; None: all, or all of `part`.

    Raises:
        RCExplainerError: There is no such part or graph, or both are given, or the links are not known.
    """
    if part is not None and index is not None:
        raise RCExplainerError(f"--index names {data.task}s among all of {data.name}: leave out --part, or --index")
    places: list[Place] = [_plain(one) for one in all_instances(data).tolist()]
    if data.task == "link" and not places and index is None:
        raise RCExplainerError(
            f"the graph of {data.name} has no edge_label_index: name pairs of nodes, such as --index 0-5,2-9"
        )
    if index is None:
        wanted = places if part is None else [places[position] for position in _part(data, part)]
        return [ChosenInstance(place, place) for place in wanted]
    for place in index:
        if data.task == "graph" and not (isinstance(place, int) and 0 <= place < len(places)):
            raise RCExplainerError(
                f"{data.name} has {len(places)} graphs: an index is from 0 to {len(places) - 1}, got {place}"
            )
    return [ChosenInstance(place, place) for place in index]


def graphs_at(data: GraphDataset, positions: Sequence[Place]) -> list[Data]:
    """The graphs at these places of a dataset.

    Args:
        data: The dataset.
        positions: Places of graphs.
    """
    return [data[place] for place in positions if isinstance(place, int)]


def _part(data: GraphDataset, part: str) -> list[int]:
    if part not in PARTS:
        raise RCExplainerError(f"part must be one of {', '.join(PARTS)}, got {part!r}")
    found: list[int] = getattr(data.split, part).tolist()
    return found


def _plain(place: int | list[int]) -> Place:
    return (place[0], place[1]) if isinstance(place, list) else place
