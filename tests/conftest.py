"""Fixtures shared by all tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from backends import MODES, mode_fixture
from hypothesis import settings

settings.register_profile("default", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("default")

collect_ignore = ["sharded_jax.py", "sharded_torch.py"]  # programs, which test_shards runs

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


mode = mode_fixture(MODES)


@pytest.fixture(scope="session")
def shared() -> Path:
    """Reference scores of other tools, beside the checkout."""
    if not SHARED.is_dir():
        pytest.skip("the reference scores are not beside this checkout")
    return SHARED
