"""Requests: their bodies within limits, and our errors as answers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from odefinder.errors import OdefinderError, SettingsError
from odefinder.web.options import number_of, pairs
from odefinder.web.tables import Reading

MESSAGE_LIMIT = 2**20  # bytes of a request other than an upload
Endpoint = Callable[[Request], Awaitable[Response]]


class NotFoundError(OdefinderError):
    """Something that is not there any more."""


class TooLargeError(OdefinderError):
    """An upload beyond the limit."""


def plain_errors(endpoint: Endpoint) -> Endpoint:
    """Our errors as JSON: the sentences of the command line."""

    async def answer(request: Request) -> Response:
        try:
            return await endpoint(request)
        except NotFoundError as error:
            return JSONResponse({"error": str(error)}, 404)
        except TooLargeError as error:
            return JSONResponse({"error": str(error)}, 413)
        except OdefinderError as error:
            return JSONResponse({"error": str(error), "option": getattr(error, "option", None)}, 400)

    return answer


async def limited(request: Request, limit: int) -> AsyncIterator[bytes]:
    """The body in parts; an error as soon as it is known to be too long."""
    declared = request.headers.get("content-length", "0")
    size = int(declared) if declared.isdigit() else 0
    message = f"this is more than {limit / 2**20:g} MB; give fewer rows, or use the command line"
    if size > limit:
        raise TooLargeError(message)
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            raise TooLargeError(message)
        yield part


async def json_of(request: Request) -> dict[str, Any]:
    body = b"".join([part async for part in limited(request, MESSAGE_LIMIT)])
    try:
        content = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise SettingsError("the request is not a JSON object")
    return content


def reading_of(wish: Mapping[str, Any]) -> Reading:
    """What a request says about its table: roles, the unit of time, standard errors."""
    roles, unit, errors = (wish.get(name) for name in ("roles", "time_unit", "errors"))
    if roles is not None and not isinstance(roles, dict):
        raise SettingsError("roles is an object: column -> role")
    if not isinstance(unit or "", str) or not isinstance(errors or "", str):
        raise SettingsError("time_unit and errors are texts")
    return Reading(
        None if roles is None else {str(title): str(role) for title, role in roles.items()},
        unit or None,
        {name: number_of(text) for name, text in pairs(errors or "", "x=0.1")},
    )


def ending_of(name: str) -> str:
    """Of a file's name: what kind it is.  Anything odd becomes plain text, whose reader says what it is."""
    ending = Path(name).suffix.lower()
    return ending if ending[1:].isalnum() and len(ending) < 10 and ending.isascii() else ".csv"
