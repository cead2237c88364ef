"""`odefinder app`: how it starts, and how it ends."""

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request

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


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "odefinder.web.opening", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    result = CliRunner().invoke(cli.app, ["app", "--no-browser"])
    assert result.exit_code == 1
    assert "pip install 'odefinder[web]'" in result.stderr


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
