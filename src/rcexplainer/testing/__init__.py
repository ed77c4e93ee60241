"""The suite that every method passes, for methods of your own.

    rc.testing.check_method(MyMethod)

runs all checks and raises one error that names those that fail. In pytest, with one test for each check:

    @pytest.mark.parametrize("check", rc.testing.CHECKS)
    def test_my_method(check):
        check(rc.testing.MethodCase(MyMethod))

A check takes a `MethodCase`: how the method is made, and on which networks and by which measure it is judged.
"""

from rcexplainer.testing.conformance import CHECKS, check_method
from rcexplainer.testing.expectation import ConformanceError
from rcexplainer.testing.method_case import MethodCase, fidelity_drop, motif_score

__all__ = ["CHECKS", "ConformanceError", "MethodCase", "check_method", "fidelity_drop", "motif_score"]
