"""What the tests of the index share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from shelf import Shelf, fresh


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    """A directory of logs and an index in memory that follows them."""
    with fresh(tmp_path) as made:
        yield made
