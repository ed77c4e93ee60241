"""The bodies of requests in the terms of OpenAPI."""

from typing import Any

from rcexplainer.server.requests import NODE_PAIRS

NUMBER_LIST = {"type": "array", "items": {"type": "number"}}
GRAPH_SCHEMA = {
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
        "x": {"type": "array", "items": NUMBER_LIST, "description": "features of each node"},
        "edge_attr": {"type": "array", "items": NUMBER_LIST, "description": "attributes of each edge"},
        "id": {"type": "string"},
    },
}
INSTANCE_SCHEMA = {
    "instance": {"type": "integer", "description": "number of an instance that the server knows"},
    "graph": GRAPH_SCHEMA,
    "index": {"description": "node, or pair of nodes, of an uploaded graph"},
}
OPTIONS_SCHEMA = {
    "search": {"type": "string", "enum": ["prefix", "greedy", "none"], "default": "prefix"},
    "target_class": {"type": "integer", "minimum": 0},
    "candidates": {**NODE_PAIRS, "description": "only edges between these pairs of nodes may be deleted"},
    "confidence": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
    "refine": {"type": "integer", "minimum": 1, "description": "model runs spent on the ranking"},
    "budget": {"type": "number", "description": "seconds; then the best counterfactual so far is the answer"},
}
SMILES_SCHEMA = {"smiles": {"type": "string", "description": "a molecule, where the model is one of molecules"}}
DELETED_SCHEMA = {"deleted": {**NODE_PAIRS, "description": "edges between these pairs of nodes are deleted first"}}


def json_body(properties: dict[str, Any]) -> dict[str, Any]:
    """Describe the body of a request.

    Args:
        properties: Its fields.

    Returns:
        A value for FastAPI's `openapi_extra`.
    """
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}
