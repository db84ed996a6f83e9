"""What the fault tests share: real processes, and logs worth losing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import Processes, processes_in


@pytest.fixture
def processes(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    """Processes that work in the directory of the test."""
    with processes_in(tmp_path, tmp_path_factory.mktemp("said")) as made:
        yield made
