"""Work that outgrows one process, on a local Dask cluster with one worker killed in the middle.

    python benchmarks/scaling.py fits --count 2000 --out runs/scaling.json
    python benchmarks/scaling.py generate --count 10000000 --folder runs/many --out runs/scaling.json

Both check that nothing is lost and nothing comes twice: every data set has its own result, and every example
is there once, in shards that are byte for byte what this process computes alone (three are compared).
Prints the throughput per core, and adds it to the file.  docs/scaling.md has the figures.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

DIMENSIONS = (1, 2, 3)
NOISE = 0.03  # additive, relative to each variable's spread
COMPARED = 3  # shards


@contextmanager
def cluster(workers: int, kill_after: float) -> Iterator[list[float]]:
    """A local cluster of one-threaded workers; yields the list that tells when one of them was killed."""
    import distributed

    killed: list[float] = []
    over = threading.Event()
    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None
        ) as local,
        distributed.Client(local) as client,
    ):
        began = time.perf_counter()

        def kill() -> None:
            if not over.wait(kill_after):
                first = min(client.run(os.getpid).items())[1]
                os.kill(first, signal.SIGKILL)
                killed.append(time.perf_counter() - began)

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            yield killed
        finally:
            over.set()
            killer.join()


def data_sets(count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Noisy trajectories of random systems in one to three variables, as (states, times)."""
    from odefinder.bench.cases import synthetic_cases

    rng = np.random.default_rng(0)
    cases = [case for case in synthetic_cases(count, seed=271_828) if case.dimension in DIMENSIONS]
    sets = [
        (case.dense + NOISE * case.dense.std(axis=0) * rng.normal(size=case.dense.shape), case.dense_times)
        for case in cases
    ]
    return [sets[k] for k in rng.permutation(len(sets))[:count]]


def cpu_seconds() -> float:
    """Of all workers that have ended, also of the killed one; their start is included."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def fits(options: argparse.Namespace) -> dict[str, Any]:
    """Fit many data sets; each model must hold its own data."""
    import joblib

    from odefinder import ODEFormer

    sets = data_sets(options.count)
    model = ODEFormer(network=not options.no_network)
    with cluster(options.workers, options.kill_after) as killed, joblib.parallel_config(backend="dask"):
        began = time.perf_counter()
        models = model.fit_many(sets)
        seconds = time.perf_counter() - began
    lost = len(sets) - len(models)
    failed = [one for one in models if hasattr(one, "error_")]
    swapped = sum(
        not np.array_equal(one.dataset_.states[0], states)
        for one, (states, _) in zip(models, sets, strict=True)
        if not hasattr(one, "error_")
    )
    return {
        "data sets": len(sets), "lost": lost, "another's result": swapped, "with an error": len(failed),
        "worker killed after s": killed, "seconds": seconds, "CPU seconds per fit": cpu_seconds() / len(sets),
        "fits per core and minute": 60.0 * len(sets) / seconds / options.workers,
    }  # fmt: skip


def generate(options: argparse.Namespace) -> dict[str, Any]:
    """Generate many examples; each must be there once."""
    import odefinder
    from odefinder.prior.shards import read_shard

    folder = Path(options.folder)
    how: dict[str, Any] = {"seed": 3, "shard_size": options.shard_size, "progress": False}
    with cluster(options.workers, options.kill_after) as killed:
        summary = odefinder.generate(folder, count=options.count, backend="dask", **how)
    used = cpu_seconds()
    paths = sorted(folder.glob("shard-*.parquet"))
    rows = sum(len(read_shard(path)) for path in paths)
    with tempfile.TemporaryDirectory() as alone:
        odefinder.generate(alone, count=min(options.count, COMPARED * options.shard_size), **how)
        same = [
            path.read_bytes() == (folder / path.name).read_bytes()
            for path in sorted(Path(alone).glob("shard-*.parquet"))
        ]
    return {
        "examples": options.count, "lost": options.count - rows, "shards": len(paths),
        "shards compared, the same": [len(same), sum(same)], "worker killed after s": killed,
        "seconds": summary.seconds, "examples per CPU second": options.count / used,
        "examples per core and second": options.count / summary.seconds / options.workers,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    for run, count in ((fits, 2000), (generate, 10_000_000)):
        command = commands.add_parser(run.__name__)
        command.set_defaults(run=run)
        command.add_argument("--count", type=int, default=count)
        command.add_argument("--workers", type=int, default=2)
        command.add_argument("--kill-after", type=float, default=30.0, help="seconds")
        command.add_argument("--out", type=Path, default=None, help="a JSON file that the figures go to")
        if run is generate:
            command.add_argument("--folder", required=True)
            command.add_argument("--shard-size", type=int, default=16_384)
        else:
            command.add_argument("--no-network", action="store_true")
    options = parser.parse_args()
    figures = options.run(options)
    for name, value in figures.items():
        print(f"{name:30} {value:,.1f}" if isinstance(value, float) else f"{name:30} {value}")
    if options.out is not None:
        known = json.loads(options.out.read_text()) if options.out.exists() else {}
        options.out.write_text(json.dumps({**known, options.run.__name__: figures}, indent=1) + "\n")


if __name__ == "__main__":
    main()
