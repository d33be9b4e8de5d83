"""What is measured is right before it is fast."""

from pathlib import Path

import pytest

from benchmarks import data
from service import intake
from service.settings import Settings


@pytest.mark.parametrize("share", [0.01, 0.3, 0.7])
@pytest.mark.parametrize("seed", [1, 7])
def test_the_account_of_a_made_log_is_what_was_put_into_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, share: float
) -> None:
    """Records, cut lines and events of each kind, from any seed and at any density."""
    monkeypatch.setattr(data, "CUT", 0.02)  # a small log has as much dirt as a great one
    made = data.mixed(tmp_path / "mixed.log", 2_000_000, seed, share)
    settings = Settings(database_url=f"sqlite:///{tmp_path / 'events.db'}")
    for path in (made.path, data.compressed(made)):
        receipt = intake.read([str(path)], settings, server=path.suffix, source="files").receipt
        assert receipt.received == made.records
        assert receipt.rejected == made.rejected > 0
        assert receipt.as_json()["events"] == made.events
