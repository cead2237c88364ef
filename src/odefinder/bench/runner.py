"""A run: all methods on all tasks, in parallel, resumable, each fit in a process of its own.

Nothing that a method does ends a run.  Results go to a folder (`results.py`) as they come; the same call with
the same folder continues where it stopped, and a further method or cell adds to it.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from odefinder.bench.isolation import Isolation
from odefinder.bench.lines import ResultFile
from odefinder.bench.methods.method import Method
from odefinder.bench.methods.oracle import Oracle
from odefinder.bench.protocol import Fitted, Result, Status, judge, result_key
from odefinder.bench.report import environment
from odefinder.bench.results import FORMAT, RESULTS, open_run, read_results
from odefinder.bench.sets import CASES, SYNTHETIC, load_set, set_title, systems_digest
from odefinder.bench.tasks import Task, choose_systems, make_tasks
from odefinder.data.corruption import NOISES, Noise
from odefinder.edge.parameters import checked
from odefinder.errors import MissingExtraError, SettingsError


@dataclass(frozen=True)
class Plan:
    """What to run."""

    set: str = "odebench"  # odebench, strogatz, synthetic or a JSON file
    methods: tuple[Method, ...] = ()
    sigmas: tuple[float, ...] = (0.0,)
    rhos: tuple[float, ...] = (0.0,)
    noise: Noise = "multiplicative"
    systems: str | None = None  # ids such as "1,5,20-25"; None: all
    initials: int | None = None  # initial values of each system that are fitted; None: all
    cases: int = CASES  # synthetic systems per dimension
    seed: int = 0
    time_limit: float = 300.0  # seconds per fit
    memory_limit: float = 4.0  # GB per fit

    def __post_init__(self) -> None:
        if not self.methods:
            raise SettingsError("give at least one method (--methods); `odefinder bench list` shows them")
        if not self.sigmas or not self.rhos:
            raise SettingsError("give at least one sigma and one rho, such as --sigma 0,0.05 --rho 0,0.5")
        if self.noise not in NOISES:
            raise SettingsError(f"--noise is {' or '.join(NOISES)}, not {self.noise!r}")
        if not 0.0 < self.time_limit < float("inf"):
            raise SettingsError(f"the time limit is a number of seconds above 0, got {self.time_limit:g}")
        if not 0.25 <= self.memory_limit < float("inf"):
            raise SettingsError(f"the memory limit is at least 0.25 GB, got {self.memory_limit:g}")
        if self.initials is not None and self.initials < 1:
            raise SettingsError(f"--initials is the number of initial values, 1 or more, not {self.initials}")
        if self.seed < 0:
            raise SettingsError(f"the seed is a whole number, 0 or more, got {self.seed}")

    def command(self) -> str:
        """The command that runs the same plan, without folders."""
        parts = [
            f"--set {Path(self.set).name}",
            f"--methods {','.join(method.name for method in self.methods)}",
            f"--sigma {','.join(f'{sigma:g}' for sigma in self.sigmas)}",
            f"--rho {','.join(f'{rho:g}' for rho in self.rhos)}",
            f"--noise {self.noise}" if self.noise != "multiplicative" else "",
            f"--systems {self.systems}" if self.systems else "",
            f"--initials {self.initials}" if self.initials else "",
            f"--cases {self.cases}" if self.set in SYNTHETIC and self.cases != CASES else "",
            f"--time-limit {self.time_limit:g} --memory-limit {self.memory_limit:g} --seed {self.seed}",
        ]
        return " ".join(["odefinder bench", *filter(None, parts)])


@dataclass(frozen=True)
class Summary:
    """What a folder holds after `run`."""

    folder: Path
    asked: int  # fits of this plan that can be run here
    done_before: int  # how many of them were done before
    results: list[Result]  # all results in the folder


def run(
    plan: Plan,
    out: str | os.PathLike[str],
    *,
    jobs: int = 1,
    backend: str = "processes",
    address: str | None = None,
    progress: bool = False,
) -> Summary:
    """Run what is not yet in the folder `out`.

    jobs: fits at a time.  backend: "processes", or "dask": the cluster at `address`, or a local one.
    """
    checked("jobs", jobs)
    if backend not in ("processes", "dask"):
        raise SettingsError(f"the backend is processes or dask, not {backend!r}")
    if address is not None and backend != "dask":
        raise SettingsError("an address is that of a Dask scheduler: add --backend dask")
    folder = Path(out)
    every = load_set(plan.set, cases=plan.cases)
    systems = choose_systems(every, plan.systems)
    name, seed, noise = set_title(plan.set), plan.seed, plan.noise
    tasks = list(
        make_tasks(
            name, systems, sigmas=plan.sigmas, rhos=plan.rhos, seed=seed, noise=noise, initials=plan.initials
        )
    )
    shared = {
        "format": FORMAT,
        "odefinder": version("odefinder"),
        "set": set_title(plan.set),
        "cases": plan.cases,
        "systems_sha256": systems_digest(every),
        "noise": plan.noise,
        "seed": plan.seed,
        "time_limit": plan.time_limit,
        "memory_limit": plan.memory_limit,
    }
    settings = {method.name: method.settings for method in plan.methods}
    needs = [name for method in plan.methods for name in method.needs]
    open_run(folder, shared, settings, plan.command(), environment(needs))
    with ResultFile(folder / RESULTS) as file:
        done = {result.key for result in read_results(folder) if result.status != Status.NOT_RUN}
        todo = _todo(plan, tasks, done, file)
        asked = len(tasks) * sum(method.missing is None for method in plan.methods)
        with _progress_bar(asked, asked - len(todo), progress and todo != []) as advance:
            finished = 0
            try:
                start = _with_dask if backend == "dask" else _with_processes
                with closing(start(plan, todo, min(jobs, max(1, len(todo))), address)) as results:
                    for result in results:
                        file.append(result)
                        finished += 1
                        advance(result)
            except KeyboardInterrupt:
                raise KeyboardInterrupt(
                    f"Stopped: {asked - len(todo) + finished} of {asked} fits are done and kept in {folder}. "
                    "The same command continues from there."
                ) from None
    return Summary(folder, asked, asked - len(todo), read_results(folder))


Job = tuple[Method, Task]


def _todo(plan: Plan, tasks: Sequence[Task], done: set[Any], file: ResultFile) -> list[Job]:
    """The fits still to be run; what cannot be run here is recorded as such."""
    written = {result.key for result in read_results(file.path.parent)}
    absent = {method.name: method.missing for method in plan.methods}
    todo = []
    for task in tasks:  # all methods of a task in a row, so that the time left can be estimated
        for method in plan.methods:
            key, missing = result_key(method.name, task), absent[method.name]
            if key in done:
                continue
            if missing is None:
                todo.append((method, task))
            elif key not in written:
                file.append(judge(method.name, task, Fitted(Status.NOT_RUN, missing)))
    return todo


def execute(method: Method, task: Task, isolation: Isolation) -> Result:
    """One fit, judged."""
    t, x = task.observed()
    told = method.told(task.truth) if isinstance(method, Oracle) else method
    return judge(method.name, task, isolation.fit(told, t, x, task.seed))


# ---------------------------------------------------------------------------------------- where fits run


def _with_processes(
    plan: Plan, todo: Sequence[Job], jobs: int, address: str | None
) -> Generator[Result, None, None]:
    """Run fits in threads, each with a process that forks its fits."""
    waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
    for job in todo:
        waiting.put(job)
    results: queue.SimpleQueue[Result | BaseException] = queue.SimpleQueue()
    stop = threading.Event()
    places = [Isolation(plan.time_limit, plan.memory_limit * 2**30) for _ in range(jobs)]

    def work(place: Isolation) -> None:
        try:
            while not stop.is_set():
                method, task = waiting.get_nowait()
                result = execute(method, task, place)
                if not stop.is_set():  # a fit that `close` ended is not a result
                    results.put(result)
        except queue.Empty:
            pass
        except BaseException as problem:  # an error of ours: the run must be told
            results.put(problem)

    threads = [threading.Thread(target=work, args=(place,), daemon=True) for place in places]
    try:
        for thread in threads:
            thread.start()
        for _ in todo:
            result = results.get()
            if isinstance(result, BaseException):
                raise result
            yield result
    finally:
        stop.set()
        for place in places:
            place.close()
        for thread in threads:
            thread.join(timeout=5.0)


def _with_dask(
    plan: Plan, todo: Sequence[Job], jobs: int, address: str | None
) -> Generator[Result, None, None]:
    """Run fits on the workers of a Dask cluster; each worker thread has its own process that forks fits."""
    try:
        from distributed import Client, LocalCluster, as_completed
    except ImportError as missing:
        raise MissingExtraError("The backend 'dask'", "dask") from missing
    if address is None:
        place: Any = LocalCluster(
            n_workers=jobs, threads_per_worker=1, processes=True, dashboard_address=None
        )
    else:
        place = address
    try:
        try:
            client = Client(place, timeout="10s")
        except (OSError, ValueError) as problem:
            raise SettingsError(f"there is no Dask scheduler at {address}: {problem}") from None
        with client:
            limits = plan.time_limit, plan.memory_limit * 2**30
            jobs_of = {
                client.submit(_on_worker, method, task, *limits, pure=False): (method, task)
                for method, task in todo
            }
            for future in as_completed(list(jobs_of)):
                method, task = jobs_of.pop(future)
                error = future.exception()
                if error is None:
                    yield future.result()
                else:  # a worker that died several times
                    yield judge(method.name, task, Fitted(Status.CRASH, f"on the cluster: {error!r:.300}"))
    finally:
        if address is None:
            place.close()


_of_thread = threading.local()


def _on_worker(method: Method, task: Task, time_limit: float, memory_limit: float) -> Result:
    """One fit on a worker of a cluster, in the isolation that its thread keeps."""
    isolation: Isolation | None = getattr(_of_thread, "isolation", None)
    if isolation is None or (isolation.time_limit, isolation.memory_limit) != (time_limit, memory_limit):
        if isolation is not None:
            isolation.close()
        isolation = _of_thread.isolation = Isolation(time_limit, memory_limit)
    return execute(method, task, isolation)


# ---------------------------------------------------------------------------------------- progress


@contextmanager
def _progress_bar(total: int, done: int, shown: bool) -> Iterator[Callable[[Result], None]]:
    """Yields a function to call with each result as it comes."""
    if not shown:
        yield lambda result: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("fits"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("left  {task.description}"),
    )
    failures = 0
    with Progress(*columns, console=Console(stderr=True), speed_estimate_period=600.0) as bar:
        task = bar.add_task("", total=total, completed=done)

        def advance(result: Result) -> None:
            nonlocal failures
            failures += result.status != Status.OK
            bar.update(
                task, advance=1, description=f"{failures} failed; last {result.method} on {result.system}"
            )

        yield advance
