"""The bodies of requests in the terms of OpenAPI."""

from typing import Any

from rcexplainer.server.requests import PAIRS

NUMBERS = {"type": "array", "items": {"type": "number"}}
GRAPH = {
    "type": "object",
    "required": ["edge_index"],
    "properties": {
        "edge_index": {
            "type": "array",
            "description": "[[sources], [targets]], nodes counted from 0",
            "items": {"type": "array", "items": {"type": "integer", "minimum": 0}},
            "minItems": 2,
            "maxItems": 2,
        },
        "x": {"type": "array", "items": NUMBERS, "description": "features of each node"},
        "edge_attr": {"type": "array", "items": NUMBERS, "description": "attributes of each edge"},
        "id": {"type": "string"},
    },
}
WHICH = {
    "instance": {"type": "integer", "description": "number of an instance that the server knows"},
    "graph": GRAPH,
    "index": {"description": "node, or pair of nodes, of an uploaded graph"},
}
OPTIONS = {
    "search": {"type": "string", "enum": ["prefix", "greedy", "none"], "default": "prefix"},
    "target_class": {"type": "integer", "minimum": 0},
    "candidates": {**PAIRS, "description": "only edges between these pairs of nodes may be deleted"},
    "confidence": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
    "refine": {"type": "integer", "minimum": 1, "description": "model runs spent on the ranking"},
    "budget": {"type": "number", "description": "seconds; then the best counterfactual so far is the answer"},
}
SMILES = {"smiles": {"type": "string", "description": "a molecule, where the model is one of molecules"}}
DELETED = {"deleted": {**PAIRS, "description": "edges between these pairs of nodes are deleted first"}}


def json_body(properties: dict[str, Any]) -> dict[str, Any]:
    """Describe the body of a request.

    Args:
        properties: Its fields.

    Returns:
        A value for FastAPI's `openapi_extra`.
    """
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}
