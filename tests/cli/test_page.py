"""`odefinder app`: how it starts, and how it ends."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from odefinder.cli import app as cli


def test_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        result = CliRunner().invoke(cli.app, ["app", "--no-browser", "--port", str(port)])
    assert result.exit_code == 1
    assert result.stderr.startswith(f"odefinder: port {port} cannot be used: ")
    assert "give another one" in result.stderr


def test_ports_and_hosts_that_cannot_be() -> None:
    for port in ("-1", "99999"):
        result = CliRunner().invoke(cli.app, ["app", "--no-browser", "--port", port])
        assert result.exit_code == 1
        assert "port is a port, from 1 to 65535, or 0 for a free one" in result.stderr
    command = ["app", "--no-browser", "--host", "é" * 300]
    result = CliRunner().invoke(cli.app, command, input="correct horse\ncorrect horse\n")
    assert result.exit_code == 1
    assert "is not the address of a machine" in result.stderr


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "odefinder.web.opening", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    result = CliRunner().invoke(cli.app, ["app", "--no-browser"])
    assert result.exit_code == 1
    assert "pip install 'odefinder[web]'" in result.stderr


def test_a_page_for_other_machines_has_a_password(monkeypatch: pytest.MonkeyPatch) -> None:
    served = list[object]()
    monkeypatch.setattr("odefinder.web.opening.serve", lambda *given: served.extend(given[3:]))
    command = ["app", "--no-browser", "--host", "0.0.0.0"]
    short = CliRunner().invoke(cli.app, command, input="short\nshort\n")
    assert "take a longer one" in short.stderr
    CliRunner().invoke(cli.app, command, input="correct horse\ncorrect horse\n")
    assert served == ["0.0.0.0", "correct horse"]


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no Ctrl-C to a single process")
def test_the_page_is_there_until_ctrl_c() -> None:
    command = [sys.executable, "-m", "odefinder", "app", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout is not None
            found = re.search(r"http://127\.0\.0\.1:\d+/\S{16,}/", server.stdout.readline())
            assert found is not None
            with urllib.request.urlopen(found[0], timeout=60) as page:
                assert b"<title>odefinder</title>" in page.read()
            server.send_signal(signal.SIGINT)
            assert server.wait(timeout=60) == 130
        finally:
            server.kill()


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no Ctrl-C to a single process")
def test_ctrl_c_in_the_middle_of_a_fit(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "odefinder", "app", "--no-browser"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, text=True, env=environment, **pipes) as server:
        try:
            assert server.stdout is not None
            address = re.search(r"http://\S+", server.stdout.readline())[0]  # type: ignore[index]

            def ask(path: str, content: object = None) -> dict[str, Any]:
                body = None if content is None else json.dumps(content).encode()
                with urllib.request.urlopen(f"{address}api/{path}", body, timeout=60) as answer:
                    return json.load(answer)

            table = ask("samples/hare_lynx", {})["id"]
            options = {"network": False, "time_budget": 300.0}
            fit = ask("fits", {"table": table, "options": options})["id"]
            end = time.monotonic() + 240.0
            while ask(f"fits/{fit}")["stage"] != "searching":
                assert time.monotonic() < end
                time.sleep(0.1)
            workers = children(server.pid)
            assert workers
            assert len(list(tmp_path.glob("odefinder-*"))) == 1
            server.send_signal(signal.SIGINT)
            begin = time.monotonic()
            assert server.wait(timeout=60) == 130
            # Two seconds on a machine that has time for it; a busy one may take longer.
            assert time.monotonic() - begin < (2.0 if os.getloadavg()[0] < (os.cpu_count() or 1) else 20.0)
            end = time.monotonic() + 10.0
            while running(workers):  # one that tidies up after Python's own processes ends a moment later
                assert time.monotonic() < end
                time.sleep(0.1)
            assert list(tmp_path.glob("odefinder-*")) == []
        finally:
            server.kill()


def children(parent: int) -> list[int]:
    """The processes that a process started."""
    return [process for process, above, _ in processes() if above == parent]


def running(found: list[int]) -> list[int]:
    return [process for process, _, state in processes() if process in found and not state.startswith("Z")]


def processes() -> list[tuple[int, int, str]]:
    """All of them: number, that of the parent, and state (Z: ended, and nobody has asked how)."""
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,stat="], capture_output=True, text=True, check=True
    )
    lines = (line.split() for line in listed.stdout.splitlines())
    return [(int(process), int(parent), state) for process, parent, state in lines]
