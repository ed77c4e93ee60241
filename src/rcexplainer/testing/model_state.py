"""Everything about a model that an explainer must leave as it was."""

from torch import nn


def state_of(model: nn.Module) -> list[object]:
    """Parameters, buffers, attributes, hooks and training flags of every submodule, comparable with ==."""
    state: list[object] = []
    for name, module in model.named_modules():
        attributes = {
            key: (
                list(value.items())
                if isinstance(value, dict)
                else list(value)
                if isinstance(value, list)
                else id(value)
            )
            for key, value in module.__dict__.items()
            if key not in ("_parameters", "_buffers")
        }
        tensors = {
            key: (id(value), value.requires_grad, value.tolist())
            for key, value in [*module._parameters.items(), *module._buffers.items()]
            if value is not None
        }
        state.append((name, module.training, attributes, tensors))
    return state
