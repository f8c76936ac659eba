"""Covertype: fetched from an archive, a sentence where it cannot be, and its synthetic likeness."""

import gzip
import hashlib
import urllib.error
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import _covtype

from mklviz.datasets import DataError, describe_datasets, load_dataset
from mklviz.datasets.covertype import FEATURE_NAMES, MEASURED

LIKE = load_dataset("covertype_like", n=20_000)


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """Let scikit-learn find a little table of 54 columns and the cover's number where it looks for the public one."""
    table = np.column_stack([np.random.default_rng(0).integers(0, 300, (30, 54)), 1 + np.arange(30) % 7])
    file = tmp_path / "covtype.data.gz"
    file.write_bytes(gzip.compress("\n".join(",".join(map(str, row)) for row in table).encode()))
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    monkeypatch.setattr(_covtype, "ARCHIVE", _covtype.RemoteFileMetadata("covtype.data.gz", file.as_uri(), digest))
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "kept"))
    return table


def test_the_table_is_fetched_once_and_asks_for_lodgepole_pine_or_for_all_covers(
    served: np.ndarray, tmp_path: Path
) -> None:
    ds = load_dataset("covertype")
    np.testing.assert_array_equal(ds.X, served[:, :54])
    np.testing.assert_array_equal(ds.y, np.where(served[:, 54] == 2, 1.0, -1.0))
    assert (ds.task, ds.classes[1], ds.feature_names) == ("binary", "lodgepole pine", FEATURE_NAMES)
    ds = load_dataset("covertype", classes=7)
    np.testing.assert_array_equal(ds.y, served[:, 54] - 1)
    assert (ds.task, len(ds.classes), ds.classes[1]) == ("multiclass", 7, "lodgepole pine")
    first = load_dataset("covertype", folder=str(tmp_path / "mine"))
    (tmp_path / "covtype.data.gz").unlink()
    np.testing.assert_array_equal(load_dataset("covertype", folder=str(tmp_path / "mine")).X, first.X)


@pytest.mark.parametrize(
    "error",
    [urllib.error.URLError("Name or service not known"), TimeoutError("timed out"), OSError("checksum differs")],
)
def test_without_a_network_it_says_so_and_what_to_use_instead(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(_covtype, "_fetch_remote", fail)
    with pytest.raises(DataError, match=r"could not be fetched.*connect to the network.*covertype_like"):
        load_dataset("covertype", folder=str(tmp_path))


def test_its_card_needs_neither_the_network_nor_the_data() -> None:
    cards = {card.name: card for card in describe_datasets()}
    assert cards["covertype"].shape == cards["covertype_like"].shape == (581_012, 54)
    assert cards["covertype"].kind == "fetched"
    assert cards["covertype"].classes == cards["covertype_like"].classes


def test_the_likeness_has_ten_measurements_one_area_and_one_soil_each_and_no_line_tells_its_covers_apart() -> None:
    indicators = LIKE.X[:, len(MEASURED) :]
    assert set(np.unique(indicators)) == {0.0, 1.0}
    np.testing.assert_array_equal(indicators[:, :4].sum(1), 1.0)
    np.testing.assert_array_equal(indicators[:, 4:].sum(1), 1.0)
    assert (LIKE.X[:, : len(MEASURED)].std(0) > 0.0).all()
    assert 0.4 < (LIKE.y > 0.0).mean() < 0.55  # as many as the 49 % of the forests
    X = (LIKE.X - LIKE.X.mean(0)) / np.maximum(LIKE.X.std(0), 1e-12)
    half = len(X) // 2
    coefficients = np.linalg.lstsq(np.column_stack([X[:half], np.ones(half)]), LIKE.y[:half], rcond=None)[0]
    said = np.sign(np.column_stack([X[half:], np.ones(half)]) @ coefficients)
    assert (said == LIKE.y[half:]).mean() < 0.68  # 90 % are the rule's


def test_the_first_rows_are_the_same_however_many_are_drawn_and_as_many_labels_are_wrong_as_asked() -> None:
    many = load_dataset("covertype_like", n=60_000)
    np.testing.assert_array_equal(many.X[:20_000], LIKE.X)
    np.testing.assert_array_equal(many.y[:20_000], LIKE.y)
    assert not np.array_equal(many.X[50_000:51_000], many.X[:1000])
    clean, noisy = (load_dataset("covertype_like", n=20_000, noise=noise).y for noise in (0.0, 0.25))
    # five standard deviations of a mean of 20,000 coins
    assert (clean != noisy).mean() == pytest.approx(0.25, abs=0.016)
    with pytest.raises(DataError, match=r"noise must be .*, not 0\.5"):
        load_dataset("covertype_like", noise=0.5)
