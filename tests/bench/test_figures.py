"""Figures of a run: written whatever the results hold, and what they say is what was measured."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from odefinder.bench.figures import draw_figures, true_systems
from odefinder.bench.figures.contestants import comparable, contestants
from odefinder.bench.figures.predictions import prediction_cell
from odefinder.bench.figures.shares import ablations, accuracy, by_dimension, standard_error
from odefinder.bench.figures.spreads import cost, r2
from odefinder.bench.protocol import Fitted, Result, Status, judge
from odefinder.bench.results import RESULTS, RUN, read_run
from odefinder.bench.sets import load_set, set_title, systems_digest
from odefinder.bench.tasks import Task, choose_systems, make_tasks
from odefinder.errors import DataError, OdefinderError, SettingsError
from odefinder.expressions.program import Program

MAIN = ["accuracy", "by_dimension", "cost", "r2"]
OWN = [{"id": "decay", "equations": ["-x0"], "initial_values": [[3.0], [1.0]], "points": 20}]
Answer = Callable[[Task], Program | None]


def truth(task: Task) -> Program:
    return task.truth


def nothing(task: Task) -> None:
    return None


def explosion(task: Task) -> Program:
    return task.truth.with_constants(-500.0 * task.truth.constants)


def fits(
    answers: dict[str, Answer], systems: str = "1,24", cells: Sequence[Any] = ((0.0, 0.0),)
) -> list[Result]:
    """Results as if methods had given these answers to some systems of ODEBench."""
    chosen = choose_systems(load_set("odebench"), systems)
    tasks = [task for s, r in cells for task in make_tasks("odebench", chosen, sigmas=[s], rhos=[r])]
    return [
        judge(name, task, Fitted(Status.OK if program else Status.INVALID, program=program, cpu_s=0.5))
        for task in tasks
        for name, answer in answers.items()
        for program in [answer(task)]
    ]


def write(folder: Path, results: Sequence[Result], set_name: str = "odebench", **more: Any) -> Path:
    """The folder of a run."""
    entry = {"format": 1, "set": set_title(set_name), "seed": 0, "methods": {}, **more}
    entry.setdefault("systems_sha256", systems_digest(load_set(set_name, cases=more.get("cases", 1))))
    folder.mkdir(exist_ok=True)
    (folder / RUN).write_text(json.dumps(entry))
    (folder / RESULTS).write_text("".join(json.dumps(asdict(result)) + "\n" for result in results))
    return folder


def stems(paths: Sequence[Path]) -> list[str]:
    assert all(path.stat().st_size > 1000 for path in paths)
    return sorted(path.stem for path in paths)


def texts(figure: Any) -> str:
    from matplotlib.text import Text

    figure.draw_without_rendering()
    return "\n".join(text.get_text() for text in figure.findobj(Text) if text.get_visible())


def test_all_figures_of_a_run(tmp_path: Path) -> None:
    cells = [(0.0, 0.0), (0.05, 0.0), (0.05, 0.5)]
    results = fits({"odefinder": truth, "sindy": nothing, "other": explosion, "oracle": truth}, cells=cells)
    paths = draw_figures(write(tmp_path / "run", results), tmp_path / "out")
    assert stems(paths) == sorted([*MAIN, "predictions-odefinder-s0.05-r0.5"])
    assert {path.parent for path in paths} == {tmp_path / "out"}


def test_formats_and_the_default_folder(tmp_path: Path) -> None:
    folder = write(tmp_path, fits({"oracle": truth}, "1"))
    assert stems(draw_figures(folder, ending="svg")) == [*MAIN[:3], "predictions-oracle-s0-r0", "r2"]
    assert (tmp_path / "figures" / "accuracy.svg").exists()


def test_one_cell_gives_bars_and_several_give_lines() -> None:
    answers = {"odefinder-opt": truth, "sindy": nothing}
    one, more = (fits(answers, cells=cells) for cells in ([(0.02, 0.5)], [(0.0, 0.0), (0.05, 0.0)]))
    bars, lines = accuracy(one, contestants(one)), accuracy(more, contestants(more))
    assert len(bars.axes[0].patches) == 2
    assert not bars.legends
    assert "50 % of the points dropped, σ = 0.02" in texts(bars)
    assert [list(line.get_ydata()) for line in lines.axes[0].lines] == [[0.0, 0.0], [100.0, 100.0]]
    assert [text.get_text()[:3] for text in lines.legends[0].get_texts()] == ["100", "0  "]


def test_many_methods_and_missing_cells() -> None:
    names = [f"method {k}" for k in range(15)]
    results = fits(dict.fromkeys(names, truth), "1", cells=[(0.0, 0.0), (0.05, 0.0)])
    results = [one for one in results if one.method != "method 3" or one.sigma == 0.0]
    ranked = contestants(results)
    assert len({(one.colour, one.line["marker"]) for one in ranked}) == 15
    figure = accuracy(results, ranked)
    assert "method 3\n(2 of 4 fits)" in texts(figure)
    width = figure.get_figwidth() * figure.dpi
    legend = figure.legends[0].get_window_extent()
    assert legend.x1 <= width
    assert legend.y0 >= 0.0
    for draw in (cost, r2):
        assert "(2 of 4 fits)" in texts(draw(results, ranked))
    assert prediction_cell(results, ranked, "method 3") == ("method 3", 0.0, 0.0)


def test_the_ranking_leaves_out_what_does_not_compete() -> None:
    results = fits({"sindy": nothing, "odefinder": truth, "odefinder-decode-5": truth, "oracle": truth}, "1")
    assert [one.name for one in contestants(results)] == ["odefinder", "sindy"]
    alone = [result for result in results if result.method == "oracle"]
    assert [(one.name, one.accuracy) for one in contestants(alone)] == [("oracle", 100.0)]


@pytest.mark.parametrize(("system", "cell"), [("1", (0.03, 0.0)), ("24", (0.05, 0.0))])
def test_the_ranking_is_over_the_fits_that_all_have(system: str, cell: tuple[float, float]) -> None:
    cells = [(0.0, 0.0), (0.05, 0.0)]
    results = fits({"odefinder": truth, "sindy": truth}, "1", cells=cells)
    failed = fits({"odefinder": nothing}, system, cells=[cell])  # the other has no fit there
    assert [one.accuracy for one in contestants([*results, *failed])] == [100.0, 100.0]


def test_lines_are_over_the_fits_that_all_have() -> None:
    cells = [(0.0, 0.0), (0.05, 0.0)]
    results = fits({"odefinder": truth, "sindy": truth}, "1", cells=cells)
    results += fits({"odefinder": nothing}, "24", cells=cells[1:])  # the other was spared this system
    assert [len(comparable(some)) for some in (results, results[4:], results[8:])] == [8, 4, 2]
    axes = accuracy(results, contestants(results)).axes[0]
    assert [list(line.get_ydata()) for line in axes.lines] == [[100.0, 100.0]] * 2


def test_with_the_same_accuracy_the_method_with_more_fits_is_first() -> None:
    results = fits({"odefinder-network": truth}, "1")
    results += fits({"sindy": truth}, "1", cells=[(0.0, 0.0), (0.05, 0.0)])
    assert [one.name for one in contestants(results)] == ["sindy", "odefinder-network"]


def test_standard_errors_of_shares() -> None:
    assert standard_error(50.0, 99) == pytest.approx(5.0, rel=0.01)
    assert 0.0 < standard_error(100.0, 4) < standard_error(75.0, 4)


def test_whose_predictions_are_drawn() -> None:
    results = fits({"sindy": truth, "odefinder": nothing}, "1", cells=[(0.0, 0.5), (0.05, 0.0)])
    ranked = contestants(results)
    assert prediction_cell(results, ranked) == ("odefinder", 0.05, 0.0)
    assert prediction_cell(results, ranked, "sindy") == ("sindy", 0.05, 0.0)
    with pytest.raises(SettingsError, match="no results of 'pysr'; choose from odefinder, sindy"):
        prediction_cell(results, ranked, "pysr")


def test_dimensions_come_with_the_number_of_fits() -> None:
    results = fits({"odefinder": truth}, "1,2,24")
    shown = texts(by_dimension(results, contestants(results)))
    assert "1\n(4)" in shown
    assert "2\n(2)" in shown
    alone = [result for result in results if result.dimension == 2]
    assert "σ = 0, all points, dimension 2" in texts(by_dimension(alone, contestants(alone)))


def test_ablations(tmp_path: Path) -> None:
    systems = load_set("synthetic", cases=1)
    tasks = list(make_tasks("synthetic", systems, rhos=[0.0, 0.5]))
    names = ["odefinder-decode", "odefinder-decode-5"]
    results = [judge(name, task, Fitted(Status.OK, program=task.truth)) for name in names for task in tasks]
    settings = {names[0]: {"samples": 50}, names[1]: {"samples": 5}}
    shown = texts(ablations(results, contestants(results), systems, settings))
    for axis in ("dimension", "unary operators", "binary operators", "points", "samples of the network"):
        assert axis in shown
    assert "75" in shown
    folder = write(tmp_path, results[:3], "synthetic", cases=1, methods=settings)
    assert "ablations" in stems(draw_figures(folder))


def test_a_set_from_a_file(tmp_path: Path) -> None:
    own = tmp_path / "own.json"
    own.write_text(json.dumps(OWN))
    tasks = make_tasks("own", load_set(str(own)))
    results = [judge("odefinder", task, Fitted(Status.OK, program=task.truth)) for task in tasks]
    folder = write(tmp_path / "run", results, str(own))
    with pytest.warns(UserWarning, match="give the file of the set 'own'"):
        assert stems(draw_figures(folder)) == MAIN
    assert [system.id for system in true_systems(read_run(folder), str(own))] == ["decay"]
    with pytest.raises(SettingsError, match="the run was on the set 'own'"):
        true_systems(read_run(folder), "odebench")


def test_systems_that_have_changed() -> None:
    run = {"set": "odebench", "systems_sha256": "of another version"}
    with pytest.warns(UserWarning, match="no longer those of the run"):
        assert true_systems(run, None) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ending": "gif"}, "png, pdf, svg, not 'gif'"),
        ({"method": "sindy"}, "no results of 'sindy'"),
        ({"out": Path(__file__)}, "is a file; give the path of a folder"),
    ],
)
def test_what_goes_wrong(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    write(tmp_path, fits({"oracle": truth}, "1"))
    with pytest.raises(OdefinderError, match=message):
        draw_figures(tmp_path, **options)


def test_nothing_to_draw(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="`odefinder bench` did not write it"):
        draw_figures(tmp_path)
    write(tmp_path, [judge("pysr", task, Fitted(Status.NOT_RUN)) for task in _one_task()])
    with pytest.raises(DataError, match="no results yet; run `odefinder bench` with this --out first"):
        draw_figures(tmp_path)
    assert not (tmp_path / "figures").exists()


def _one_task() -> list[Task]:
    return list(make_tasks("odebench", load_set("odebench")[:1]))[:1]
