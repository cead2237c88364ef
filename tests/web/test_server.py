"""The server behind the page: every address, through Starlette's test client."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from starlette.testclient import TestClient

from odefinder import ODEFormer, ODESystem
from odefinder.data.bundled import BUNDLED
from odefinder.output.export import TARGETS
from odefinder.web.options import parameters
from odefinder.web.server import App
from odefinder.web.worker import STOPPED

HERE = "http://127.0.0.1:8000"
QUICK = {"network": False, "time_budget": 20.0}  # sparse regression alone finds these systems


def decay() -> str:
    """A file of x' = -x, y' = x - 2 y, with a column of text."""
    t = np.linspace(0.0, 4.0, 60)
    x = ODESystem.from_text("x' = -x; y' = x - 2*y").simulate([3.0, 0.0], t)
    return str(pd.DataFrame({"Time (h)": t, "x": x[:, 0], "y": x[:, 1]}).to_csv(index=False))


@pytest.fixture(scope="module")
def app() -> App:
    return App("secret", processes=1, upload_limit=100_000)


@pytest.fixture(scope="module")
def client(app: App) -> Iterator[TestClient]:
    with TestClient(app.asgi, base_url=f"{HERE}/secret/") as client:
        yield client
    assert not app.folder.exists()


def upload(client: TestClient, text: str | bytes, name: str = "data.csv") -> Any:
    return client.post("api/tables", params={"name": name}, content=text)


def events(client: TestClient, fit: str) -> list[dict[str, Any]]:
    with client.stream("GET", f"api/fits/{fit}/events") as stream:
        return [json.loads(line.removeprefix("data: ")) for line in stream.iter_lines() if line]


@pytest.fixture(scope="module")
def fitted(client: TestClient) -> str:
    """The id of a fit that went through a worker process."""
    table = upload(client, decay()).json()["id"]
    job = client.post("api/fits", json={"table": table, "options": QUICK}).json()
    seen = events(client, job["id"])
    assert seen[-1]["state"] == "done", seen[-1]
    assert "searching" in {one["stage"] for one in seen}
    sketches = [one["best"] for one in seen if "best" in one]
    assert sketches  # the best system so far is drawn while the fit runs
    assert sketches[-1]["variables"] == ["x", "y"]
    assert sketches[-1]["curves"][0]["states"][0][0] == pytest.approx(3.0, rel=0.1)
    return job["id"]


# ---------------------------------------------------------------------------------------- the page


def test_the_page_and_its_files(client: TestClient) -> None:
    page = client.get("")
    assert page.status_code == 200
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "unsafe" not in page.headers["content-security-policy"]
    assert client.get("static/js/main.js").headers["content-type"].startswith("text/javascript")


def test_about_names_the_parameters_that_the_estimator_has(client: TestClient) -> None:
    about = client.get("api/about").json()
    assert about["parameters"]["time_budget"] == ODEFormer().time_budget
    assert set(about["parameters"]) <= set(ODEFormer().get_params())
    assert "hare_lynx" in [one["name"] for one in about["samples"]]
    assert "sin" in about["operators"]


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/", {}),
        ("/other/", {}),
        ("/secret/api/about", {"host": "evil.example:8000"}),
        ("/secret/api/about", {"origin": "http://evil.example"}),
        ("/secret/api/about", {"origin": "null"}),
    ],
)
def test_only_the_page_itself_is_answered(client: TestClient, path: str, headers: dict[str, str]) -> None:
    answer = client.get(HERE + path, headers=headers)
    assert answer.status_code == 403
    assert "content-security-policy" in answer.headers


def test_nothing_outside_of_the_static_files_is_served(client: TestClient) -> None:
    assert client.get("static/%2e%2e/server.py").status_code == 404
    assert client.get("static/../server.py").status_code == 404


# ---------------------------------------------------------------------------------------- tables


def test_a_table_is_understood(client: TestClient) -> None:
    found = upload(client, decay()).json()
    assert found["roles"] == {"Time (h)": "time", "x": "observed", "y": "observed"}
    assert found["data"]["clock"] == "Time (h)"
    assert found["rows"] == 60
    assert found["data"]["trajectories"][0]["states"][0][0] == 3.0


@pytest.mark.parametrize("name", ["a.xlsx", "a.parquet", "a.tsv"])
def test_other_kinds_of_files(client: TestClient, tmp_path: Path, name: str) -> None:
    frame = pd.DataFrame({"time": np.arange(9.0), "x": np.arange(9.0) ** 2, "u": [0.0] * 4 + [1.0] * 5})
    path = tmp_path / name
    if name == "a.xlsx":
        pytest.importorskip("openpyxl")
        frame.to_excel(path, index=False)
    elif name == "a.parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, sep="\t", index=False)
    found = upload(client, path.read_bytes(), name).json()
    assert found["roles"] == {"time": "time", "x": "observed", "u": "observed"}
    assert found["head"][2] == [2.0, 4.0, 0.0]


def test_samples(client: TestClient) -> None:
    assert client.post("api/samples/hare_lynx").json()["data"]["variables"] == ["hare", "lynx"]
    assert client.post("api/samples/nothing").status_code == 404


@pytest.mark.parametrize("name", list(BUNDLED))
def test_samples_know_their_roles_and_options(client: TestClient, name: str) -> None:
    found, known = client.post(f"api/samples/{name}").json(), BUNDLED[name]
    assert "error" not in found
    assert found["data"]["inputs"] == list(known.inputs)
    assert found["data"]["conditions"] == list(known.conditions)
    assert parameters(found["options"]) == dict(known.parameters)
    assert found["data"]["errors"] == bool(known.errors)


def test_roles_can_be_changed(client: TestClient) -> None:
    table = upload(
        client, "when,a,b,c\n" + "\n".join(f"{k},{k * k},{k % 3},{2 * k}" for k in range(8))
    ).json()
    roles = {"when": "time", "a": "observed", "b": "input", "c": "ignore"}
    found = client.post(f"api/tables/{table['id']}/reading", json={"roles": roles}).json()
    assert found["data"]["variables"] == ["a"]
    assert found["data"]["inputs"] == ["b"]
    assert found["roles"] == roles
    assert found["data"]["trajectories"][0]["inputs"] == [
        {"times": [0, 2, 3, 5, 6, 7], "values": [0, 2, 0, 2, 0, 1]}  # where it bends
    ]


@pytest.mark.parametrize(
    ("roles", "sentence"),
    [
        ({"t": "time", "x": "time"}, "both 't' and 'x' are the time; choose one of them"),
        ({"t": "time", "x": "ignore"}, "no column is observed; choose at least one"),
        ({"t": "time", "x": "king"}, "there is no role 'king'"),
    ],
)
def test_roles_that_make_no_sense(client: TestClient, roles: dict[str, str], sentence: str) -> None:
    table = upload(client, "t,x\n0,1\n1,2\n2,4\n3,8\n4,16\n").json()
    found = client.post(f"api/tables/{table['id']}/reading", json={"roles": roles}).json()
    assert sentence in found["error"]


def test_a_column_of_text_is_left_out(client: TestClient) -> None:
    found = upload(client, "t,x,who\n0,1,a\n1,2,b\n2,4,c\n3,8,d\n4,9,e\n").json()
    assert found["roles"] == {"t": "time", "x": "observed", "who": "ignore"}
    assert found["data"]["notes"][0].startswith("Left out, as there are no numbers: 'who'.")
    assert "error" not in found


def test_a_table_that_cannot_be_used_still_shows_its_columns(client: TestClient) -> None:
    found = upload(client, "t,x,y\n0,1,2\n1,2,3\n2,4,b\n3,8,5\n4,9,6\n").json()
    assert "the column 'y' has text, 'b' in row 3" in found["error"]
    roles = {**found["roles"], "y": "ignore"}
    mended = client.post(f"api/tables/{found['id']}/reading", json={"roles": roles}).json()
    assert "error" not in mended


def test_a_table_of_inputs_comes_and_goes(client: TestClient) -> None:
    table = upload(client, decay()).json()["id"]
    force = "t,u\n" + "\n".join(f"{k},{k % 2}" for k in range(5))
    answer = client.post(f"api/tables/{table}/inputs", params={"name": "force.csv"}, content=force)
    assert answer.json() == {"inputs_name": "force.csv"}
    found = client.post(f"api/tables/{table}/reading", json={}).json()
    assert (found["data"]["inputs"], found["inputs_name"]) == (["u"], "force.csv")
    bad = client.post(f"api/tables/{table}/inputs", params={"name": "bad.csv"}, content="a,b\n1,2\n3,4\n")
    assert bad.status_code == 400
    assert bad.json()["error"].startswith("bad.csv: it has no column of times")
    assert client.delete(f"api/tables/{table}/inputs").json() == {"inputs_name": ""}
    assert client.post(f"api/tables/{table}/reading", json={}).json()["data"]["inputs"] == []
    assert client.delete("api/tables/gone/inputs").status_code == 404


# ---------------------------------------------------------------------------------------- fits


def test_a_result_has_candidates_curves_and_notes(client: TestClient, fitted: str) -> None:
    result = client.get(f"api/models/{fitted}").json()
    assert "x' = -x" in result["candidates"][0]["text"]
    one = client.get(f"api/models/{fitted}/candidates/0").json()
    assert one["latex"].startswith(r"\begin{aligned}")
    assert len(one["curves"][0]["times"]) == 800
    assert max(abs(left) for left in one["residuals"][0]["states"][0]) < 1e-3
    assert client.get(f"api/models/{fitted}/candidates/1000").status_code == 400


def test_sliders(client: TestClient, fitted: str) -> None:
    one = client.get(f"api/models/{fitted}/candidates/0").json()
    wish = {"row": 0, "constants": [2.0 * each["value"] for each in one["constants"]], "until": 2.0}
    found = client.post(f"api/models/{fitted}/simulate", json=wish).json()
    assert found["latex"] != one["latex"]
    curve = found["curves"][0]
    assert curve["times"][-1] == pytest.approx(8.0)
    assert curve["states"][0][-1] == pytest.approx(3.0 * np.exp(-16.0), rel=1e-3)
    for bad in ({"constants": [1.0]}, {"until": -1}, {"starts": "x"}, {"row": 99}, {"until": None}):
        assert client.post(f"api/models/{fitted}/simulate", json=bad).status_code == 400


def test_constants_have_errors_and_curves_have_bands(client: TestClient, fitted: str) -> None:
    found = client.get(f"api/models/{fitted}/candidates/0/trust").json()
    assert found["text"].splitlines()[0].startswith("x'")
    assert found["level"] == 0.95
    for one in found["constants"]:
        assert one["value"] > 0.0
        assert not one["determined"] or one["low"] <= one["value"] <= one["high"]
    bands = client.get(f"api/models/{fitted}/candidates/0/bands", params={"until": "2"}).json()
    for band in bands:
        assert band["times"][-1] == pytest.approx(8.0)
        assert all(low <= high for low, high in zip(band["low"][0], band["high"][0], strict=True))
    for until in ("0.5", "1e9", "nan", "long"):
        answer = client.get(f"api/models/{fitted}/candidates/0/bands", params={"until": until})
        assert answer.status_code == 400
    assert client.get(f"api/models/{fitted}/candidates/99/trust").status_code == 400


def test_sliders_without_curves_give_the_equations_only(client: TestClient, fitted: str) -> None:
    found = client.post(f"api/models/{fitted}/simulate", json={"row": 0, "curves": False}).json()
    assert set(found) == {"latex", "text"}


def test_every_export_of_the_library(client: TestClient, fitted: str) -> None:
    names = [one["name"] for one in client.get("api/about").json()["exports"]]
    assert names == list(TARGETS)
    for name in names:
        answer = client.get(f"api/models/{fitted}/0/exports/{name}")
        file = f"system_{name}{TARGETS[name].suffix}"
        assert answer.headers["content-disposition"] == f"attachment; filename={file}"
        assert answer.headers["content-type"].startswith("text/plain")
    assert client.get(f"api/models/{fitted}/0/exports/text").text.startswith("x' = -")
    assert "<sbml" in client.get(f"api/models/{fitted}/0/exports/sbml").text
    assert client.get(f"api/models/{fitted}/0/exports/fortran").status_code == 400
    assert client.get(f"api/models/{fitted}/99/exports/text").status_code == 400


def test_downloads(client: TestClient, fitted: str, tmp_path: Path) -> None:
    def file(name: str) -> Any:
        answer = client.get(f"api/models/{fitted}/0/{name}")
        assert answer.headers["content-disposition"] == f"attachment; filename={name}"
        return answer

    (tmp_path / "model.json").write_bytes(file("model.json").content)
    assert str(ODEFormer.load(tmp_path / "model.json").system_).startswith("x' = -x")
    assert file("curves.csv").text.splitlines()[0] == "trajectory,Time,x,y"
    assert file("figure.png").content.startswith(b"\x89PNG")
    report = file("report.html").text
    assert "<svg" in report
    assert "src=" not in report
    assert client.get(f"api/models/{fitted}/0/other.txt").status_code == 404


def test_a_saved_model_opens_again(client: TestClient, fitted: str) -> None:
    saved = client.get(f"api/models/{fitted}/0/model.json").content
    again = client.post("api/models", content=saved).json()["id"]
    assert client.get(f"api/models/{again}").json() == client.get(f"api/models/{fitted}").json()
    bad = client.post("api/models", params={"name": "m.json"}, content=b"{}")
    assert bad.status_code == 400
    assert bad.json()["error"].startswith("cannot read m.json: this is not a saved model")


def test_what_the_estimator_refuses_is_said(client: TestClient) -> None:
    table = upload(client, decay()).json()["id"]
    job = client.post("api/fits", json={"table": table, "options": {**QUICK, "operators": "cosh"}}).json()
    last = events(client, job["id"])[-1]
    assert last["state"] == "failed"
    assert last["message"].startswith("there is no operator 'cosh'; choose from")
    answer = client.post("api/fits", json={"table": table, "options": {"weights": "/etc/passwd"}})
    assert answer.status_code == 400
    assert client.post("api/fits", json={"table": "gone"}).status_code == 404
    assert client.post("api/fits", content=b"[]").status_code == 400


def test_one_runs_the_other_waits_and_both_can_be_stopped(client: TestClient, app: App) -> None:
    table = client.post("api/samples/hare_lynx").json()["id"]
    wish = {"table": table, "options": {"network": False, "time_budget": 120.0}}
    first, second = (client.post("api/fits", json=wish).json()["id"] for _ in range(2))
    wait_until(lambda: client.get(f"api/fits/{first}").json()["stage"] == "searching")
    status = client.get(f"api/fits/{second}").json()
    assert (status["state"], status["running"], status["waiting"]) == ("waiting", 1, 1)
    stopped = client.post(f"api/fits/{second}/stop").json()
    assert (stopped["state"], stopped["message"]) == ("stopped", STOPPED)
    time.sleep(1.0)  # until it has something
    client.post(f"api/fits/{first}/stop")
    last = events(client, first)[-1]
    assert last["state"] in ("done", "stopped")
    assert last["seconds"] < 60.0


def test_a_killed_worker_says_so_and_the_next_fit_works(client: TestClient, app: App) -> None:
    table = client.post("api/samples/hare_lynx").json()["id"]
    job = client.post("api/fits", json={"table": table, "options": {**QUICK, "time_budget": 120.0}}).json()
    wait_until(lambda: client.get(f"api/fits/{job['id']}").json()["state"] == "running")
    (worker,) = app.fits._all
    worker.process.kill()
    last = events(client, job["id"])[-1]
    assert last["state"] == "failed"
    assert "ended without a word" in last["message"]
    table = upload(client, decay()).json()["id"]
    job = client.post("api/fits", json={"table": table, "options": QUICK}).json()
    assert events(client, job["id"])[-1]["state"] == "done"


def test_results_expire() -> None:
    app = App("secret", kept=0.0)
    with TestClient(app.asgi, base_url=f"{HERE}/secret/") as client:
        table = upload(client, decay()).json()["id"]
        time.sleep(0.01)
        answer = client.post(f"api/tables/{table}/reading", json={})
        assert answer.status_code == 404
        assert "upload it again" in answer.json()["error"]
        assert list(app.folder.iterdir()) == []


def test_many_clients_and_fits_at_once(client: TestClient) -> None:
    """A small copy of benchmarks/web_load.py: nothing is lost, and every answer belongs to its question."""

    def visit(number: int) -> str:
        level = float(number + 1)
        text = "t,x\n" + "\n".join(f"{t:.3f},{level * np.exp(-t):.9f}" for t in np.linspace(0, 3, 12))
        found = upload(client, text, f"{number}.csv").json()
        assert found["data"]["trajectories"][0]["states"][0][0] == level
        if number % 10:
            return ""
        wish = {"table": found["id"], "options": {**QUICK, "time_budget": 0.5}}
        return client.post("api/fits", json=wish).json()["id"]

    with ThreadPoolExecutor(8) as pool:
        fits = [one for one in pool.map(visit, range(30)) if one]
    assert len(set(fits)) == 3
    for number, fit in zip((0, 10, 20), fits, strict=True):
        assert events(client, fit)[-1]["state"] == "done"
        first = client.get(f"api/models/{fit}").json()["data"]["trajectories"][0]["states"][0][0]
        assert first == number + 1


def wait_until(true: Any, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)
