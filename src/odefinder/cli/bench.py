"""`odefinder bench`: methods compared on systems with known equations."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from odefinder.cli.exits import plain_errors

if TYPE_CHECKING:
    from odefinder.bench.methods.method import Method
    from odefinder.bench.protocol import Result
    from odefinder.data.corruption import Noise as NoiseKind

Set = Annotated[
    str,
    typer.Option("--set", help="odebench, strogatz, synthetic, synthetic-paper, or a JSON file of systems."),
]
Sigma = Annotated[str, typer.Option(help="Noise levels, such as 0,0.01,0.05.")]
Rho = Annotated[str, typer.Option(help="Shares of dropped points, such as 0,0.5.")]
Noise = Annotated[str, typer.Option(help="multiplicative, or additive: relative to each variable's spread.")]
Systems = Annotated[str | None, typer.Option(help="Only these systems, such as 1,5,20-25.")]
Cases = Annotated[int, typer.Option(help="Synthetic systems of each dimension.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same results.")]
Folder = Annotated[Path, typer.Argument(help="The folder of a run (--out).")]

bench = typer.Typer(
    invoke_without_command=True,
    no_args_is_help=True,
    subcommand_metavar="[list | report | merge | figures | export]",
    pretty_exceptions_enable=False,
)


@bench.callback()
def run(
    context: typer.Context,
    set_name: Set = "odebench",
    methods: Annotated[str, typer.Option(help="Names from `odefinder bench list`.")] = "odefinder",
    sigma: Sigma = "0",
    rho: Rho = "0",
    noise: Noise = "multiplicative",
    systems: Systems = None,
    initials: Annotated[
        int | None, typer.Option(help="Fit only this many initial values of each system; for slow methods.")
    ] = None,
    cases: Cases = 20,
    jobs: Annotated[int, typer.Option(help="Fits at a time.")] = 1,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the results; the same command goes on in it.  Default: bench-SET."),
    ] = None,
    time_limit: Annotated[float, typer.Option(help="Seconds that a fit may take.")] = 300.0,
    memory_limit: Annotated[float, typer.Option(help="GB that a fit may use.")] = 4.0,
    seed: Seed = 0,
    backend: Annotated[str, typer.Option(help="processes, or dask for a cluster.")] = "processes",
    address: Annotated[
        str | None, typer.Option(help="Of the Dask scheduler, such as tcp://host:8786; else a local cluster.")
    ] = None,
    progress: Annotated[bool, typer.Option(help="Show a progress bar in a terminal.")] = True,
) -> None:
    """Compare methods on systems with known equations: accuracy, structure, complexity and time."""
    if context.invoked_subcommand is not None:
        return
    with plain_errors():
        from odefinder.bench.laboratory.entries import is_laboratory

        if is_laboratory(set_name):
            _run_laboratory(Path(set_name), methods, sigma, rho, systems, jobs, out, seed)
            return
        from odefinder.bench.report import write_report
        from odefinder.bench.runner import Plan
        from odefinder.bench.runner import run as run_all
        from odefinder.bench.sets import set_title

        plan = Plan(
            set=set_name,
            methods=chosen_methods(methods),
            sigmas=numbers(sigma, "sigma"),
            rhos=numbers(rho, "rho"),
            noise=cast("NoiseKind", noise),
            systems=systems,
            initials=initials,
            cases=cases,
            seed=seed,
            time_limit=time_limit,
            memory_limit=memory_limit,
        )
        folder = out or Path(f"bench-{set_title(set_name)}")
        shown = progress and sys.stderr.isatty()
        summary = run_all(plan, folder, jobs=jobs, backend=backend, address=address, progress=shown)
        paths = write_report(folder)
        names = {method.name for method in plan.methods}
        _print_accuracy([result for result in summary.results if result.method in names])
        if summary.done_before:
            typer.echo(f"{summary.done_before} of {summary.asked} fits were there already.")
        typer.echo(f"Wrote {', '.join(str(path) for path in paths)}.", err=True)


def _run_laboratory(
    path: Path,
    methods: str,
    sigma: str,
    rho: str,
    systems: str | None,
    jobs: int,
    out: Path | None,
    seed: int,
) -> None:
    """A set with roles has methods, noise and scores of its own."""
    from odefinder.bench.laboratory.entries import chosen, read_laboratory
    from odefinder.bench.laboratory.study import jobs_of, line, read_results, run, table
    from odefinder.errors import SettingsError

    if any(numbers(rho, "rho")):
        raise SettingsError("laboratory sets drop no points; leave out --rho")
    names = [name.strip() for name in methods.split(",") if name.strip()]
    wanted = jobs_of(path, chosen(read_laboratory(path), systems), names, numbers(sigma, "sigma"), seed)
    results = (out or Path(f"bench-{path.stem}")) / "laboratory.jsonl"
    for result in run(wanted, results, jobs):
        typer.echo(line(result), err=True)
    keys = {job.key for job in wanted}
    typer.echo("\n".join(table(result for result in read_results(results) if result.key in keys)))


@bench.command("list")
def list_methods() -> None:
    """Show the methods, and what those need that cannot run here."""
    with plain_errors():
        from odefinder.bench.methods import METHODS

        methods = [method for method in METHODS.values() if method.listed]
        width = max(len(method.name) for method in methods)
        titles = max(len(method.title) for method in methods)
        for method in methods:
            typer.echo(
                f"{method.name:<{width}}  {method.title:<{titles}}  {method.missing or 'can run here'}"
            )


@bench.command()
def report(folder: Folder) -> None:
    """Write the tables of a run again: results.csv, results.parquet and report.md."""
    with plain_errors():
        from odefinder.bench.report import write_report
        from odefinder.bench.results import read_results

        paths = write_report(folder)
        _print_accuracy(read_results(folder))
        typer.echo(f"Wrote {', '.join(str(path) for path in paths)}.", err=True)


@bench.command()
def merge(
    folders: Annotated[list[Path], typer.Argument(help="The folders of runs (--out) of the same set.")],
    out: Annotated[Path, typer.Option(help="A new folder for all of their results.")],
) -> None:
    """Put the results of several runs into one folder; of the same fit, the last folder's counts."""
    with plain_errors():
        from odefinder.bench.report import write_report
        from odefinder.bench.results import merge_runs

        count = merge_runs(folders, out)
        paths = write_report(out)
        typer.echo(f"{count} fits. Wrote {', '.join(str(path) for path in paths)}.")


@bench.command()
def figures(
    folder: Folder,
    out: Annotated[
        Path | None, typer.Option(help="Where the figures go.  Default: figures in that folder.")
    ] = None,
    ending: Annotated[str, typer.Option("--format", help="png, pdf or svg.")] = "png",
    predictions: Annotated[
        str | None, typer.Option(help="The method whose predictions are drawn.  Default: the best of ours.")
    ] = None,
    set_file: Annotated[
        str | None, typer.Option("--set", help="The JSON file of the systems, if the run had one.")
    ] = None,
) -> None:
    """Draw the figures of a run: accuracy, cost, R2, dimensions, predictions; ablations if synthetic."""
    with plain_errors():
        from odefinder.bench.figures import draw_figures

        paths = draw_figures(folder, out, ending=ending, method=predictions, set_file=set_file)
        typer.echo(f"Wrote {', '.join(str(path) for path in paths)}.")


@bench.command()
def export(
    folder: Annotated[Path, typer.Argument(help="Where the files go.")],
    set_name: Set = "odebench",
    sigma: Sigma = "0",
    rho: Rho = "0",
    noise: Noise = "multiplicative",
    systems: Systems = None,
    cases: Cases = 20,
    seed: Seed = 0,
) -> None:
    """Write the trajectories of a set as CSV files, one each, as the methods see them."""
    with plain_errors():
        from odefinder.bench.export import export_tasks
        from odefinder.bench.sets import load_set, set_title
        from odefinder.bench.tasks import choose_systems, make_tasks

        chosen = choose_systems(load_set(set_name, cases=cases), systems)
        tasks = make_tasks(
            set_title(set_name),
            chosen,
            sigmas=numbers(sigma, "sigma"),
            rhos=numbers(rho, "rho"),
            seed=seed,
            noise=cast("NoiseKind", noise),
        )
        typer.echo(f"Wrote {export_tasks(tasks, folder)} trajectories into {folder}.")


def chosen_methods(text: str) -> tuple[Method, ...]:
    """The methods of a list of names."""
    import difflib

    from odefinder.bench.methods import METHODS
    from odefinder.errors import SettingsError

    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in METHODS:
            close = difflib.get_close_matches(name, METHODS, n=1)
            listed = ", ".join(method.name for method in METHODS.values() if method.listed)
            advice = f"did you mean {close[0]!r}?" if close else f"choose from {listed}"
            raise SettingsError(f"there is no method {name!r}; {advice}")
    return tuple(METHODS[name] for name in dict.fromkeys(names))


def numbers(text: str, what: str) -> tuple[float, ...]:
    """The numbers of a text such as 0,0.05."""
    from odefinder.errors import SettingsError

    try:
        return tuple(float(word) for word in text.split(",") if word.strip())
    except ValueError:
        raise SettingsError(
            f"--{what} takes numbers with commas between them, such as 0,0.05, not {text!r}"
        ) from None


def _print_accuracy(results: list[Result]) -> None:
    """The main table, and which methods were not run."""
    from odefinder.bench.protocol import Status
    from odefinder.bench.report import accuracy_lines

    header, *rows = accuracy_lines(results)
    if rows:
        typer.echo("% of fits with R2 > 0.9, and with the true structure")
        widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
        for row in (header, *rows):
            first, *rest = (
                word.rjust(width) if k else word.ljust(width)
                for k, (word, width) in enumerate(zip(row, widths, strict=True))
            )
            typer.echo("  ".join([first, *rest]))
    for why in sorted({result.message for result in results if result.status == Status.NOT_RUN}):
        typer.echo(f"not run: {why}")
