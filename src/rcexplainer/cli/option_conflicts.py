"""Options that cannot stand together, or that need another one."""

from rcexplainer.errors import RCExplainerError


def refuse_together(option: str, **others: object) -> None:
    """Refuse options that mean nothing beside another one.

    Args:
        option: The option that is given.
        **others: The values of the others by name; None: not given.

    Raises:
        RCExplainerError: One of them is given.
    """
    for name, value in others.items():
        if value is not None:
            raise RCExplainerError(f"--{name} cannot be used with {option}: leave one of them out")


def refuse_without(option: str, **others: object) -> None:
    """Refuse options that mean nothing without another one.

    Args:
        option: The option that is not given.
        **others: The values of the others by name; None: not given.

    Raises:
        RCExplainerError: One of them is given.
    """
    for name, value in others.items():
        if value is not None:
            raise RCExplainerError(f"--{name} is used with {option}: give {option}, or leave --{name} out")


def one_of(dataset: str | None, graphs: str | None) -> None:
    """Check that exactly one of `--dataset` and `--graphs` is given.

    Args:
        dataset: The value of `--dataset`.
        graphs: The value of `--graphs`.

    Raises:
        RCExplainerError: Both or neither is given.
    """
    if (dataset is None) == (graphs is None):
        found = "neither" if dataset is None else "both"
        raise RCExplainerError(f"give --dataset NAME or --graphs module:function, got {found}")
