"""Tasks: what an instance is. Graphs as they are, nodes of one graph, or links between its nodes."""

from rcexplainer.gnn.forward import TaskName
from rcexplainer.tasks.base import Task
from rcexplainer.tasks.graph import GraphTask
from rcexplainer.tasks.link import LinkTask
from rcexplainer.tasks.node import NodeTask

TASKS: dict[TaskName, Task] = {"graph": GraphTask(), "node": NodeTask(), "link": LinkTask()}

__all__ = ["TASKS", "Task"]
