"""Start the server on a free port, and open the page."""

from __future__ import annotations

import os
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable

import uvicorn

from odefinder.edge.parameters import checked
from odefinder.edge.rules import shown
from odefinder.errors import SettingsError
from odefinder.web.curves import warm_up
from odefinder.web.server import App

HOST = "127.0.0.1"
SWITCH = 0.001  # seconds that a working thread may make the page wait, each time
EVERYWHERE = ("", "0.0.0.0")


def serve(
    port: int = 0,
    browser: bool = True,
    say: Callable[[str], None] = print,
    host: str = HOST,
    password: str | None = None,
) -> None:
    """Run until Ctrl-C.  On another host than this machine itself there must be a password."""
    if password is None and host != HOST:
        raise SettingsError("a page for other machines needs a password")
    port = checked("port", port)
    sys.setswitchinterval(SWITCH)
    token = secrets.token_urlsafe(16)
    app = App(token, password=password)
    try:
        with _listener(host, port) as listener:
            name = socket.gethostname() if host in EVERYWHERE else host
            address = f"http://{name}:{listener.getsockname()[1]}/{token}/"
            say(f"odefinder is at {address}\nCtrl-C ends it.")
            threading.Thread(target=warm_up, daemon=True).start()
            if browser:
                threading.Timer(0.5, webbrowser.open, [address]).start()
            config = uvicorn.Config(
                app.asgi,
                log_level="critical",  # that Ctrl-C ends requests is no news
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=0,  # nobody waits for an answer any more
            )
            uvicorn.Server(config).run(sockets=[listener])
    finally:
        app.close()


def _listener(host: str, port: int) -> socket.socket:
    """A socket that says it is TCP: only then asyncio sends small answers at once, not 40 ms later."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    if os.name == "posix":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()  # a browser that is quicker than the server waits
    except OSError:
        listener.close()
        raise
    except (TypeError, ValueError):
        listener.close()
        name = shown(host)
        raise SettingsError(f"{name} is not the address of a machine; give one such as 0.0.0.0") from None
    return listener
