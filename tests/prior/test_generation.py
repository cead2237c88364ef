"""Examples on disk: exact, resumable, the same whoever computes them."""

import builtins
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import joblib
import numpy as np
import pytest

from odefinder.data.roles import KNOWN, SEEN, UNSEEN
from odefinder.errors import DataError, MissingExtraError, SettingsError
from odefinder.language.tokens import Vocabulary
from odefinder.limits.sizes import MAX_DIMENSION
from odefinder.prior import generation
from odefinder.prior.examples import ACCEPTED, EXAMPLE, Examples, new_counts
from odefinder.prior.generation import MANIFEST, Summary, generate, read_examples, read_manifest
from odefinder.prior.presets import prior_preset
from odefinder.prior.sampler import fill
from odefinder.prior.shards import from_table, read_shard, shard_statistics, to_table

SIZE = {"count": 50, "shard_size": 16, "seed": 7}  # three full shards and one of two examples


def run(folder: Path, **changes) -> Summary:
    return generate(folder, **{**SIZE, "progress": False, "jobs": 1, **changes})


def drawn(count: int, preset: str = "default", seed: int = SIZE["seed"], points: int = 0) -> Examples:
    examples = np.zeros(count, EXAMPLE)
    layout = Vocabulary().layout
    fill(examples, new_counts(), seed=seed, first=0, prior=prior_preset(preset), layout=layout, points=points)
    return examples


def same(a: Examples, b: Examples) -> bool:
    """Equal in all that is used of the records."""

    def known(examples: Examples) -> Examples:  # for Arrow, NaN equals nothing
        copy = examples.copy()
        copy["states"] = np.nan_to_num(copy["states"], nan=1e9)
        return copy

    return to_table(known(a)).equals(to_table(known(b)))


def everything(folder: Path) -> Examples:
    return np.concatenate(list(read_examples(folder)))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete folder, for reading only."""
    path = tmp_path_factory.mktemp("generation") / "data"
    run(path)
    return path


@pytest.mark.parametrize("preset", ["paper", "default"])
def test_table_and_back_is_exact(preset: str) -> None:
    examples = drawn(40, preset)
    back = from_table(to_table(examples))
    assert back.dtype == EXAMPLE
    assert same(back, examples)
    for name in (
        "dimension",
        "family",
        "n_trajectories",
        "n_points",
        "n_nodes",
        "n_tokens",
        "tries",
        "sigma",
    ):
        np.testing.assert_array_equal(back[name], examples[name])
    for a, b in zip(back, examples, strict=True):
        points, dimension, nodes = b["n_points"], b["dimension"], b["n_nodes"]
        np.testing.assert_array_equal(a["times"][:points], b["times"][:points])
        np.testing.assert_array_equal(a["states"][:points, :dimension], b["states"][:points, :dimension])
        np.testing.assert_array_equal(a["starts"][: b["n_trajectories"]], b["starts"][: b["n_trajectories"]])
        np.testing.assert_array_equal(a["values"][:nodes], b["values"][:nodes])
        np.testing.assert_array_equal(a["tokens"][: b["n_tokens"]], b["tokens"][: b["n_tokens"]])
        assert not a["times"][points:].any()
        assert not a["states"][points:].any()


def test_roles_in_a_table() -> None:
    examples = drawn(30)
    examples["dimension"] = np.minimum(examples["dimension"], MAX_DIMENSION - 2)
    examples["n_known"] = 2
    columns = examples["dimension"] + 2
    for example, end in zip(examples, columns, strict=True):
        example["roles"][:end] = [UNSEEN, *[SEEN] * (end - 3), KNOWN, KNOWN]
        example["states"][:, 0] = np.nan
        example["states"][:, end - 2 : end] = 0.5
        example["starts"][:, :end] = np.arange(end)
    table = to_table(examples)
    assert [len(states[0]) for states in table["states"].to_pylist()] == columns.tolist()
    back = from_table(table)
    assert same(back, examples)
    for name in ("dimension", "n_known", "roles"):
        np.testing.assert_array_equal(back[name], examples[name])
    for a, b, end in zip(back, examples, columns, strict=True):
        np.testing.assert_array_equal(a["states"][: b["n_points"], :end], b["states"][: b["n_points"], :end])
        np.testing.assert_array_equal(
            a["starts"][: b["n_trajectories"], :end], b["starts"][: b["n_trajectories"], :end]
        )


def test_tables_from_before_roles() -> None:
    examples = drawn(30)
    examples = examples[~examples["roles"].any(axis=1)]
    assert same(from_table(to_table(examples).drop_columns(["n_known", "roles"])), examples)


def test_shards_hold_the_examples_of_the_seed_in_order(folder: Path) -> None:
    assert sorted(path.name for path in folder.iterdir()) == [
        MANIFEST, *(f"shard-0000{k}.parquet" for k in range(4))
    ]  # fmt: skip
    assert [len(shard) for shard in read_examples(folder)] == [16, 16, 16, 2]
    assert same(everything(folder), drawn(50))


def test_manifest_says_everything(folder: Path) -> None:
    manifest = read_manifest(folder)
    assert (manifest["seed"], manifest["count"], manifest["shard_size"]) == (7, 50, 16)
    assert manifest["preset"] == "default"
    assert manifest["prior"]["tree"]["binary_max"] == prior_preset("default").tree.binary_max
    assert Vocabulary.from_dict(manifest["vocabulary"]) == Vocabulary()


def test_pandas_reads_a_shard_as_documented(folder: Path) -> None:
    pandas = pytest.importorskip("pandas")
    row = pandas.read_parquet(folder / "shard-00000.parquet").iloc[0]
    example = drawn(1)[0]
    states = np.stack(row["states"])
    np.testing.assert_array_equal(states, example["states"][: example["n_points"], : example["dimension"]])
    assert len(row["times"]) == len(states)
    assert isinstance(row["family"], str)


@pytest.mark.parametrize("options", [{"jobs": 2}, {"jobs": 2, "backend": "loky"}])
def test_same_files_whoever_computes_them(folder: Path, tmp_path: Path, options: dict) -> None:
    run(tmp_path, **options)
    assert contents(tmp_path) == contents(folder)


def test_same_files_on_a_dask_cluster(folder: Path, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
    ):
        summary = run(tmp_path, jobs=None, backend="dask")
    assert contents(tmp_path) == contents(folder)
    assert summary.statistics.examples == 50


def test_statistics_cover_what_was_there_before(tmp_path: Path) -> None:
    first = run(tmp_path)
    assert first.statistics.drawn[ACCEPTED].sum() == first.statistics.examples == 50
    assert first.new_shards == 4
    (tmp_path / "shard-00001.parquet").unlink()
    second = run(tmp_path)
    assert (second.shards, second.new_shards) == (4, 1)
    assert second.statistics.to_dict() == first.statistics.to_dict()


def test_goes_on_after_a_kill_at_any_point(folder: Path, tmp_path: Path) -> None:
    run(tmp_path)
    (tmp_path / "shard-00000.parquet").unlink()
    whole = (tmp_path / "shard-00001.parquet").read_bytes()
    (tmp_path / "shard-00001.parquet").write_bytes(whole[: len(whole) // 2])
    (tmp_path / ".shard-00002.parquet.0.tmp").write_bytes(whole[:100])
    untouched = (tmp_path / "shard-00002.parquet").stat().st_mtime_ns
    assert run(tmp_path).new_shards == 2
    assert contents(tmp_path) == contents(folder)
    assert (tmp_path / "shard-00002.parquet").stat().st_mtime_ns == untouched


def test_goes_on_after_kill_9(tmp_path: Path) -> None:
    code = (
        "from odefinder.prior.generation import generate\n"
        f"generate({str(tmp_path)!r}, count=20000, shard_size=16, seed=7, jobs=2, progress=False)"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    deadline = time.monotonic() + 300  # long enough to compile
    while len(list(tmp_path.glob("shard-*.parquet"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    left = sorted(tmp_path.glob("shard-*.parquet"))
    assert 3 <= len(left) < 1250
    assert sum(len(read_shard(path)) for path in left) == 16 * len(left)
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    manifest["count"] = 48  # rather than wait for all
    (tmp_path / MANIFEST).write_text(json.dumps(manifest))
    for path in left[3:]:
        path.unlink()
    run(tmp_path, count=64)
    assert same(everything(tmp_path), drawn(64))
    assert not list(tmp_path.glob(".*"))


def test_ctrl_c_keeps_finished_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = generation.write_table

    def interrupted(path: Path, *rest) -> None:
        if path.name == "shard-00002.parquet":
            raise KeyboardInterrupt
        write(path, *rest)

    monkeypatch.setattr(generation, "write_table", interrupted)
    with pytest.raises(KeyboardInterrupt, match=r"2 of 4 shards are complete .* The same command goes on"):
        run(tmp_path)
    monkeypatch.undo()
    assert run(tmp_path).new_shards == 2


def test_more_examples_extend_the_folder(folder: Path, tmp_path: Path) -> None:
    run(tmp_path, count=20)
    assert run(tmp_path).new_shards == 3  # the second shard was not full
    assert contents(tmp_path) == contents(folder)


def test_fixed_number_of_points(tmp_path: Path) -> None:
    run(tmp_path, count=20, points=40)
    assert (everything(tmp_path)["n_points"] == 40).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": 8}, "seed is 7 there, 8 here"),
        ({"preset": "paper"}, "preset is default there, paper here"),
        ({"vocabulary": "paper"}, r"vocabulary\.numbers\.digits is 2 there, 4 here"),
        ({"shard_size": 8}, "shard_size is 16 there, 8 here"),
        ({"points": 40}, "points is 0 there, 40 here"),
        ({"count": 49}, "a folder of 50 examples, 49 are asked for"),
    ],
)
def test_other_settings_in_the_same_folder(folder: Path, changes: dict, message: str) -> None:
    before = contents(folder)
    with pytest.raises(SettingsError, match=f"{message}.*(Name|name) another folder"):
        run(folder, **changes)
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"count": 0}, "count is a whole number of examples, 1 or more, not 0"),
        ({"jobs": 0}, "jobs is a whole number from 1 to 1024, not 0"),
        ({"seed": -1}, "a seed is a whole number"),
        ({"shard_size": 0}, "shard_size is a whole number of examples, 1 or more"),
        ({"points": 3}, "points is 8 to 200, or 0 for any"),
        ({"preset": "papper"}, "no preset 'papper'; choose one of paper, plain, default"),
        ({"vocabulary": "none"}, "no vocabulary 'none'; choose from"),
        ({"backend": "spark"}, "joblib does not know the back-end 'spark'"),
    ],
)
def test_bad_settings(tmp_path: Path, changes: dict, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        run(tmp_path / "data", **changes)
    assert not (tmp_path / "data").exists()


def test_bad_folders(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="is a file; name a folder"):
        run(tmp_path / "file")
    with pytest.raises(DataError, match=r"cannot write into .*; name another folder"):
        run(Path("/proc/odefinder"))
    (tmp_path / "shard-00000.parquet").write_text("")
    with pytest.raises(DataError, match=r"holds shards without a manifest\.json"):
        run(tmp_path)
    (tmp_path / MANIFEST).write_text("{")
    with pytest.raises(DataError, match="cannot read"):
        run(tmp_path)
    (tmp_path / MANIFEST).write_text('{"format": 99}')
    with pytest.raises(DataError, match="has format 99, this version reads format 2"):
        run(tmp_path)


def test_reading_what_is_incomplete(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"has no manifest\.json"):
        read_examples(tmp_path)
    with pytest.raises(DataError, match="there is no file"):
        read_shard(tmp_path / "shard-00000.parquet")
    run(tmp_path)
    (tmp_path / "shard-00001.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match=r"is not a complete shard .* delete it"):
        read_shard(tmp_path / "shard-00001.parquet")
    (tmp_path / "shard-00001.parquet").unlink()
    with pytest.raises(DataError, match="1 of 4 shards are missing"):
        read_examples(tmp_path)


@pytest.mark.parametrize(
    ("package", "extra", "options"),
    [("pyarrow", "parquet", {}), ("distributed", "dask", {"backend": "dask"})],
)
def test_missing_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, extra: str, options: dict
) -> None:
    real = builtins.__import__

    def without(name: str, *rest, **named):
        if name.split(".")[0] == package:
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=rf"pip install 'odefinder\[{extra}\]'"):
        run(tmp_path / "data", **options)


def test_full_disk_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_, **__) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pyarrow.parquet.write_table", full)
    with pytest.raises(DataError, match=r"shard-0.* No space left on device; make room .* command goes on"):
        run(tmp_path)


def test_worker_settings_hold_no_arrays(tmp_path: Path) -> None:
    # Arrays from another process are read-only: numba would compile everything again for them.
    job = generation._checked_job(tmp_path, 1, 0, "default", "coarse", 0, None, 1)
    assert joblib.hash(job) == joblib.hash(generation._Job(**vars(job)))
    assert not any(isinstance(value, np.ndarray) for value in vars(job).values())


def test_another_shard_or_damage_anywhere_is_noticed(folder: Path, tmp_path: Path) -> None:
    whole = [contents(folder)[f"shard-0000{k}.parquet"] for k in range(2)]
    path = tmp_path / "shard.parquet"
    path.write_bytes(whole[0])
    assert shard_statistics(path, 0, 16) is not None
    assert shard_statistics(path, 0, 15) is None
    path.write_bytes(whole[1])
    assert shard_statistics(path, 0, 16) is None
    for place in range(200, len(whole[0]) - 8000, 997):
        path.write_bytes(whole[0][:place] + bytes([whole[0][place] ^ 1]) + whole[0][place + 1 :])
        if shard_statistics(path, 0, 16) is not None:  # nothing that is read has changed
            assert same(read_shard(path), drawn(16))
    path.write_bytes(whole[0][:4000] + bytes(200) + whole[0][4200:])
    assert shard_statistics(path, 0, 16) is None
    with pytest.raises(DataError):
        read_shard(path)
