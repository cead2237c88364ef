"""The server: every address of the page, and what it answers.

The heavy work is elsewhere: fits in processes (fits.py), reading and simulating in threads.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from odefinder.data.bundled import BUNDLED, sample_path
from odefinder.data.files import input_table
from odefinder.data.time_units import SECONDS
from odefinder.errors import DataError, OdefinderError
from odefinder.estimator import ODEFormer
from odefinder.expressions.program import OPCODE_BY_NAME
from odefinder.output.export import TARGETS
from odefinder.web import models, report, trust
from odefinder.web.fits import Fits, Job
from odefinder.web.guard import Guard
from odefinder.web.options import available, parameters, typed, typed_pairs
from odefinder.web.requests import (
    Endpoint,
    NotFoundError,
    TooLargeError,
    ending_of,
    json_of,
    limited,
    plain_errors,
    reading_of,
)
from odefinder.web.shelf import KEPT, Shelf, new_id
from odefinder.web.tables import ROLES, Reading, Table, naming, preview, sample_roles
from odefinder.web.worker import Task

Result = TypeVar("Result")
STATIC = Path(__file__).parent / "static"
UPLOAD_LIMIT = 100 * 2**20  # bytes
QUICK, SLOW = 2, 2  # threads
TICK = 0.1  # seconds between two looks at a fit


class App:
    """What a running page holds: tables, fits and results, and a private folder for them."""

    def __init__(
        self, token: str, *, password: str | None = None, upload_limit: int = UPLOAD_LIMIT,
        kept: float = KEPT, processes: int | None = None, options: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self.folder = Path(tempfile.mkdtemp(prefix="odefinder-"))
        self.upload_limit, self.fixed = upload_limit, options or {}
        self.tables: Shelf[Table] = Shelf(self._discard, kept)
        self.models: Shelf[ODEFormer] = Shelf(kept=kept)
        self.fits = Fits(self._keep, processes)
        self._page = (STATIC / "index.html").read_bytes()
        self._quick, self._slow = CapacityLimiter(QUICK), CapacityLimiter(SLOW)
        guard = Middleware(Guard, token=token, password=password)
        self.asgi = Starlette(routes=self._routes(), middleware=[guard], lifespan=self._lifespan)

    def _routes(self) -> list[Any]:
        get, post = ["GET"], ["POST"]
        table: list[tuple[str, Endpoint, list[str]]] = [
            ("/", self.page, get),
            ("/api/about", self.about, get),
            ("/api/tables", self.upload, post),
            ("/api/samples/{name}", self.sample, post),
            ("/api/tables/{id}/reading", self.reading, post),
            ("/api/tables/{id}/inputs", self.inputs, post),
            ("/api/tables/{id}/inputs", self.without_inputs, ["DELETE"]),
            ("/api/fits", self.fit, post),
            ("/api/fits/{id}", self.fit_status, get),
            ("/api/fits/{id}/events", self.events, get),
            ("/api/fits/{id}/stop", self.stop, post),
            ("/api/models", self.open_model, post),
            ("/api/models/{id}", self.result, get),
            ("/api/models/{id}/candidates/{row:int}", self.candidate, get),
            ("/api/models/{id}/candidates/{row:int}/trust", self.trust, get),
            ("/api/models/{id}/candidates/{row:int}/bands", self.bands, get),
            ("/api/models/{id}/simulate", self.simulate, post),
            ("/api/models/{id}/{row:int}/exports/{target}", self.export, get),
            ("/api/models/{id}/{row:int}/{file}", self.download, get),
        ]
        routes = [Route(path, plain_errors(endpoint), methods=methods) for path, endpoint, methods in table]
        return [*routes, Mount("/static", StaticFiles(directory=STATIC))]

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        yield
        await to_thread.run_sync(self.close)

    async def _quickly(self, function: Callable[..., Result], *given: Any) -> Result:
        """In a thread.  A few at a time: each more would make the page itself wait."""
        return await to_thread.run_sync(
            partial(function, *given), abandon_on_cancel=True, limiter=self._quick
        )

    async def _slowly(self, function: Callable[..., Result], *given: Any) -> Result:
        """Likewise, for what may take seconds; nothing quick waits for it."""
        return await to_thread.run_sync(partial(function, *given), abandon_on_cancel=True, limiter=self._slow)

    def close(self) -> None:
        """End all fits and remove the folder."""
        self.fits.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    # ------------------------------------------------------------------------------------ the page

    async def page(self, request: Request) -> Response:
        return HTMLResponse(self._page)  # from memory: it never waits for a thread

    async def about(self, request: Request) -> Response:
        """What this server can do."""
        return JSONResponse(
            {
                "version": version("odefinder"),
                "samples": [{"name": name, "about": one.about} for name, one in BUNDLED.items()],
                "roles": list(ROLES),
                "time_units": list(SECONDS),
                "parameters": available(),
                "operators": [name for name in OPCODE_BY_NAME if name not in ("add", "mul")],
                "exports": [{"name": one.name, "title": one.title} for one in TARGETS.values()],
                "upload_limit": self.upload_limit,
            }
        )

    # ------------------------------------------------------------------------------------ tables

    async def upload(self, request: Request) -> Response:
        """A file as the body of the request; its name says only what kind it is.

        after: the id of a table to which its trajectories are added.
        """
        name, after = request.query_params.get("name", "table.csv")[:200], request.query_params.get("after")
        before = None if after is None else self._table(after)
        path = self.folder / f"{new_id()}{ending_of(name)}"
        await self._save(request, path)
        if before is None:
            return JSONResponse(await self._new_table(Table((path,), (name,))))
        both = before.and_another(path, name)
        try:
            found = await self._quickly(preview, both)
        except OdefinderError:
            self._remove(path)
            raise
        return JSONResponse({"id": self.tables.put(both, after), **found})

    async def sample(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in BUNDLED:
            raise NotFoundError(f"there is no sample {name!r}; there are {', '.join(BUNDLED)}")
        known, path = BUNDLED[name], self.folder / f"{new_id()}.csv"
        shutil.copyfile(sample_path(name), path)
        found = await self._new_table(Table((path,), (f"{name}.csv",)))
        reading = Reading(sample_roles(found, known), None, known.errors)
        found.update(await self._quickly(preview, self._table(found["id"]), reading))
        return JSONResponse(
            {**found, "options": typed(known.parameters), "errors": typed_pairs(known.errors), "chosen": True}
        )

    async def _new_table(self, table: Table) -> dict[str, Any]:
        try:
            found = await self._quickly(preview, table)
        except OdefinderError:
            self._discard(table)
            raise
        return {"id": self.tables.put(table), **found}

    async def reading(self, request: Request) -> Response:
        """The same table with other roles of its columns, in another unit of time, or with errors."""
        table, wish = self._of_request(request), await json_of(request)
        found = await self._quickly(preview, table, reading_of(wish))
        return JSONResponse({"id": request.path_params["id"], **found})

    async def inputs(self, request: Request) -> Response:
        """A table of inputs on times of their own, as the body of the request, in place of one before."""
        name, table = request.query_params.get("name", "inputs.csv")[:200], self._of_request(request)
        path = self.folder / f"{new_id()}{ending_of(name)}"
        await self._save(request, path)
        try:
            with naming(path, name):
                await self._quickly(input_table, path)
        except OdefinderError:
            self._remove(path)
            raise
        return self._with_inputs(request, table.with_inputs(path, name))

    async def without_inputs(self, request: Request) -> Response:
        """The same table without the table of inputs."""
        return self._with_inputs(request, self._of_request(request).with_inputs(None))

    def _with_inputs(self, request: Request, table: Table) -> Response:
        """Keep the table in place of the one before; the page then asks for a reading."""
        self.tables.put(table, request.path_params["id"])
        return JSONResponse({"inputs_name": table.inputs_name})

    def _of_request(self, request: Request) -> Table:
        return self._table(request.path_params["id"])

    def _table(self, name: Any) -> Table:
        table = self.tables.get(str(name))
        if table is None:
            raise NotFoundError("this table is no longer here, as an hour has passed; upload it again")
        return table

    # ------------------------------------------------------------------------------------ fits

    async def fit(self, request: Request) -> Response:
        wish = await json_of(request)
        table, options = self._table(wish.get("table")), parameters(wish.get("options") or {})
        target = self.folder / f"{new_id()}.json"
        job = self.fits.start(Task(table, reading_of(wish), {**options, **self.fixed}, target))
        return JSONResponse(self.fits.status(job))

    async def fit_status(self, request: Request) -> Response:
        return JSONResponse(self.fits.status(self._job(request)))

    async def events(self, request: Request) -> Response:
        """The progress of a fit, as server-sent events, until it is over."""
        job = self._job(request)

        async def stream() -> AsyncIterator[str]:
            last, drawn = None, None
            while True:
                over, best, status = job.over, job.best, self.fits.status(job)
                if status != last or best is not drawn:
                    news = {} if best is drawn else {"best": best}  # once each: they are large
                    yield f"data: {json.dumps({**status, **news})}\n\n"
                    last, drawn = status, best
                if over:
                    return
                await asyncio.sleep(TICK)

        return StreamingResponse(stream(), media_type="text/event-stream")

    async def stop(self, request: Request) -> Response:
        job = self._job(request)
        self.fits.stop(job)
        return JSONResponse(self.fits.status(job))

    def _job(self, request: Request) -> Job:
        job = self.fits.jobs.get(request.path_params["id"])
        if job is None:
            raise NotFoundError("this fit is no longer here; press Fit again")
        return job

    def _keep(self, job: Job) -> None:
        """Take over the result of a fit; it goes by the fit's id."""
        self.models.put(ODEFormer.load(job.task.target), job.id)
        self._remove(job.task.target)

    # ------------------------------------------------------------------------------------ results

    async def open_model(self, request: Request) -> Response:
        """A model.json that somebody saved."""
        name = request.query_params.get("name", "model.json")[:200]
        path = self.folder / f"{new_id()}.json"
        try:
            await self._save(request, path)
            model = await self._quickly(ODEFormer.load, path)
        except DataError as error:
            raise DataError(str(error).replace(str(path), name)) from None
        finally:
            self._remove(path)
        return JSONResponse({"id": self.models.put(model)})

    async def result(self, request: Request) -> Response:
        return JSONResponse(await self._quickly(models.result_of, self._model(request)))

    async def candidate(self, request: Request) -> Response:
        row = request.path_params["row"]
        return JSONResponse(await self._quickly(models.candidate_of, self._model(request), row))

    async def trust(self, request: Request) -> Response:
        """Errors of the constants; they take longer than the rest."""
        row = request.path_params["row"]
        return JSONResponse(await self._slowly(trust.trust_of, self._model(request), row))

    async def bands(self, request: Request) -> Response:
        row, until = request.path_params["row"], request.query_params.get("until", "1")
        return JSONResponse(await self._slowly(trust.bands_of, self._model(request), row, until))

    async def simulate(self, request: Request) -> Response:
        wish = await json_of(request)
        return JSONResponse(await self._quickly(models.played, self._model(request), wish))

    async def export(self, request: Request) -> Response:
        """A candidate as source for another program."""
        model, row, target = self._model(request), request.path_params["row"], request.path_params["target"]
        text, name = await self._slowly(models.exported, model, row, target)
        headers = {"Content-Disposition": f"attachment; filename={name}"}
        return Response(text, media_type="text/plain", headers=headers)

    async def download(self, request: Request) -> Response:
        """model.json, curves.csv, report.html, figure.png, figure.svg or figure.pdf of a candidate."""
        model, row, file = self._model(request), request.path_params["row"], request.path_params["file"]
        content, kind = await self._slowly(self._file, model, row, file)
        headers = {"Content-Disposition": f"attachment; filename={file}"}
        return Response(content, media_type=kind, headers=headers)

    def _file(self, model: ODEFormer, row: int, file: str) -> tuple[bytes | str, str]:
        if file == "curves.csv":
            return models.curves_csv(model, row), "text/csv"
        if file == "report.html":
            return report.report(model, row), "text/html"
        if file == "model.json":
            return self._saved(model, row), "application/json"
        name, _, kind = file.partition(".")
        if name != "figure" or kind not in report.KINDS:
            raise NotFoundError(f"there is no download {file!r}")
        return report.figure(model, row, kind), report.KINDS[kind]

    def _saved(self, model: ODEFormer, row: int) -> bytes:
        path = self.folder / f"{new_id()}.json"
        try:
            models.with_choice(model, row).save(path)
            return path.read_bytes()
        finally:
            self._remove(path)

    def _model(self, request: Request) -> ODEFormer:
        model = self.models.get(request.path_params["id"])
        if model is None:
            raise NotFoundError("this result is no longer here, as an hour has passed; fit again")
        return model

    # ------------------------------------------------------------------------------------ files

    async def _save(self, request: Request, path: Path) -> None:
        """The body of a request as a file, if it is not too large."""
        try:
            with path.open("wb") as file:
                async for part in limited(request, self.upload_limit):
                    file.write(part)
        except TooLargeError:
            self._remove(path)
            raise

    def _discard(self, table: Table) -> None:
        for path in table.files:
            self._remove(path)

    @staticmethod
    def _remove(path: Path) -> None:
        path.unlink(missing_ok=True)
