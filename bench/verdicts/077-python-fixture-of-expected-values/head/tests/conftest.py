import pytest


@pytest.fixture
def expected():
    return {"empty": 0, "pieces": 2}
