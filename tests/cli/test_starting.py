"""How commands begin and end when Ctrl-C comes at the wrong moment."""

import errno
import signal
import subprocess
import sys

import pytest
import typer

from odefinder.cli.exits import plain_errors

PRESSED = """
import os, signal, sys

class Pressed:
    def find_spec(self, name, *_):
        if name == "typer":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Pressed())
import odefinder.cli.app
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_it_ends_without_a_traceback() -> None:
    done = subprocess.run([sys.executable, "-c", PRESSED], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


def test_afterwards_ctrl_c_is_an_exception_again() -> None:
    code = "import signal, odefinder.cli.app; exit(signal.getsignal(2) is not signal.default_int_handler)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_handler_of_somebody_else_stays() -> None:
    own = "import signal; signal.signal(2, print)"
    code = f"{own}; import odefinder.cli.app; exit(signal.getsignal(2) is not print)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_current_folder_that_is_gone(capsys: pytest.CaptureFixture[str]) -> None:
    """Some libraries ask for it when they are imported."""
    with pytest.raises(typer.Exit), plain_errors():
        raise FileNotFoundError(errno.ENOENT, "No such file or directory")
    assert capsys.readouterr().err == (
        "odefinder: the current folder does not exist any more; change to another one\n"
    )


def test_an_interrupted_command_tears_nothing_down() -> None:
    """A thread of C++ that still loads the network would abort the process (exit code -6)."""
    code = """
import atexit, sys
from odefinder.cli import app
app.app = lambda: sys.exit(int(sys.argv[1]))
atexit.register(print, "torn down")
print("said")
app.main()
"""
    for number, said in ((130, "said"), (1, "said torn down")):
        command = [sys.executable, "-c", code, str(number)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout.split()) == (number, said.split())
    pressed = code.replace("sys.exit(int(sys.argv[1]))", "(_ for _ in ()).throw(KeyboardInterrupt)")
    done = subprocess.run([sys.executable, "-c", pressed], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "said\n", "")
