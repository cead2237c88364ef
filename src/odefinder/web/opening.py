"""Start the server on a free port of this machine, and open the page."""

from __future__ import annotations

import os
import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable

import uvicorn

from odefinder.web.curves import warm_up
from odefinder.web.server import App

HOST = "127.0.0.1"


def serve(port: int = 0, browser: bool = True, say: Callable[[str], None] = print) -> None:
    """Run until Ctrl-C."""
    token = secrets.token_urlsafe(16)
    app = App(token)
    try:
        with _listener(port) as listener:
            address = f"http://{HOST}:{listener.getsockname()[1]}/{token}/"
            say(f"odefinder is at {address}\nCtrl-C ends it.")
            threading.Thread(target=warm_up, daemon=True).start()
            if browser:
                threading.Timer(0.5, webbrowser.open, [address]).start()
            config = uvicorn.Config(
                app.asgi,
                log_level="warning",
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=1,
            )
            uvicorn.Server(config).run(sockets=[listener])
    finally:
        app.close()


def _listener(port: int) -> socket.socket:
    """A socket that says it is TCP: only then asyncio sends small answers at once, not 40 ms later."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    if os.name == "posix":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen()  # a browser that is quicker than the server waits
    except OSError:
        listener.close()
        raise
    return listener
