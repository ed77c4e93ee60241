"""The files that the tests of engines work on."""

import pytest

from tests.engine.table_case import make_case


@pytest.fixture(scope="session")
def case(tmp_path_factory):
    return make_case(tmp_path_factory.mktemp("table"))
