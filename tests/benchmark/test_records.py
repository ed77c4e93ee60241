"""Results come back from JSON as they were."""

import json
import math
from dataclasses import asdict, dataclass, replace

import pytest

from rcexplainer.benchmark.measurement import Measured
from rcexplainer.benchmark.records import read_record
from rcexplainer.metrics import RegionAgreement, Robustness
from rcexplainer.saving.documents import to_text


@dataclass(frozen=True)
class Inner:
    value: float
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outer:
    count: int
    inner: Inner | None
    many: tuple[Inner, ...]
    table: tuple[tuple[float | None, ...], ...]


def back(one):
    return read_record(type(one), json.loads(to_text(asdict(one))))


def test_nested_values() -> None:
    one = Outer(2, Inner(0.1, ("a",)), (Inner(1.0), Inner(2.0)), ((0.5, None), ()))
    assert back(one) == one
    assert back(Outer(1, None, (), ())) == Outer(1, None, (), ())
    assert math.isnan(back(Inner(math.nan)).value)  # JSON has no nan


def test_what_is_measured_comes_back() -> None:
    robust = Robustness(
        "paper",
        (0.1,),
        (8,),
        ((0.5,),),
        ((3,),),
        (2,),
        ((1.0,),),
        None,
        None,
        (1.0,),
        (1.0,),
        (0,),
        3,
        0,
        1,
        (((None,),),),
    )
    strict = replace(robust, protocol="strict")
    one = Measured("greedy", 0, fidelity=(0.25,), robust=robust, strict=strict, places=(1, 2), drops=((0.1, 0.2),))
    assert to_text(asdict(back(one))) == to_text(asdict(one))
    assert (back(one).robust, back(one).strict) == (robust, strict)


def test_a_record_of_an_earlier_version_is_read() -> None:
    """Without what is measured since then; an unknown field is still an error."""
    one = Measured("greedy", 0, edgeless=0.5, region_agreement=RegionAgreement(0.5, 0.25, 3, 9, 0.01, 1, 0.0))
    assert to_text(asdict(back(one))) == to_text(asdict(one))
    earlier = json.loads(to_text(asdict(one)))
    del earlier["edgeless"], earlier["region_agreement"]
    found = read_record(Measured, earlier)
    assert math.isnan(found.edgeless)
    assert found.region_agreement is None
    with pytest.raises(TypeError, match="Measured has the fields"):
        read_record(Measured, earlier | {"other": 1})
    del earlier["flipped"]
    with pytest.raises(TypeError, match="Measured has the fields"):
        read_record(Measured, earlier)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "Inner has the fields value, names"),
        ({"value": 1.0}, "Inner has the fields value, names"),
        ({"value": 1.0, "names": [], "more": 1}, "Inner has the fields value, names"),
        ({"value": 1.0, "names": "a"}, "a list is needed"),
        ({"value": 1.0, "names": [1]}, "str is needed, got 1"),
    ],
)
def test_what_does_not_fit_is_an_error(value, message) -> None:
    with pytest.raises(TypeError, match=message):
        read_record(Inner, value)
