"""Settings at the ends of what they may be."""

import pytest

from rcexplainer.errors import RCExplainerError
from rcexplainer.method.settings import (
    check_names,
    checked_names,
    different_names,
    inner_share,
    non_negative,
    positive,
    setting_names,
    share,
    whole,
)

TINY = 1e-12


@pytest.mark.parametrize(
    ("check", "allowed", "refused"),
    [
        (positive, [TINY, 3], [0, -TINY]),
        (non_negative, [0, TINY], [-TINY]),
        (share, [0, 0.5, 1], [-TINY, 1 + TINY]),
        (inner_share, [TINY, 1 - TINY], [0, 1]),
        (whole, [1, 7], [0, 1.5]),
    ],
)
def test_ends(check, allowed, refused) -> None:
    assert [check("it", value) for value in allowed] == allowed
    for wrong in [*refused, float("nan"), float("inf"), "1", None, True]:
        with pytest.raises(RCExplainerError, match="it must be"):
            check("it", wrong)


def test_settings_are_those_of_a_class_and_of_what_it_derives_from() -> None:
    class Base:
        def __init__(self, *, task: str = "graph", **unknown: object) -> None: ...

    class Plain(Base):
        pass

    class Own(Plain):
        def __init__(self, steps: int, *, lr: float = 0.1, **common: object) -> None: ...

    assert setting_names(Own) == ["steps", "lr", "task"]
    assert setting_names(Plain) == ["task"]


def test_a_setting_that_does_not_exist() -> None:
    check_names(["lr"], ["steps", "lr"])
    with pytest.raises(RCExplainerError, match=r"unknown setting 'step'; did you mean steps\?"):
        check_names(["lr", "step"], ["steps", "lr"])
    with pytest.raises(RCExplainerError, match=r"unknown setting 'x'; known: steps, lr$"):
        check_names(["x"], ["steps", "lr", "lr"])


def test_class_names_are_texts_one_for_each_class() -> None:
    assert checked_names(None, 2) == checked_names([], 2) == ()
    assert checked_names(["dull", "toxic"], 2) == checked_names(iter(("dull", "toxic")), 2) == ("dull", "toxic")
    for wrong in ("ab", {"dull": 0, "toxic": 1}, 5, [0, 1], ["dull", 1]):
        with pytest.raises(RCExplainerError, match="class_names must be a list of texts"):
            checked_names(wrong, 2)
    with pytest.raises(RCExplainerError, match="3 class_names were given for a model with 2 classes"):
        checked_names(["a", "b", "c"], 2)


def test_of_names_that_must_differ_the_one_that_is_there_twice_is_named() -> None:
    assert different_names(["a", "b"], 2) == ("a", "b")
    with pytest.raises(RCExplainerError, match="got 'b' more than once"):
        different_names(["a", "b", "b"], 3)
