"""`odefinder app`: how it starts, and how it ends."""

import socket
import sys

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
