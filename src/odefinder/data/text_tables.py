"""Text tables (CSV and the like): delimiter, decimal mark, header and comments are found out.

The file is read line by line and its rows become numbers in blocks: memory holds the numbers, not the text.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from odefinder.data.cells import number_of, plain_number
from odefinder.errors import DataError

MOST_COLUMNS = 2_000
MISSING = {"", "na", "n/a", "nan", "null", "none", "-", "--", "?", ".", "missing", "#n/a", "<na>", "nat"}
_COMMENTS = ("#", "%")
_SNIFFED_LINES = 50
_BLOCK = 1 << 16  # bytes read at a time
_CELLS = 50_000  # turned into numbers at a time

Line = tuple[int, str]  # its number and its text


def decoded(content: bytes) -> str:
    """Text in whatever encoding it is."""
    return content.decode(encoding_of(io.BytesIO(content)), errors="replace")


def encoding_of(file: BinaryIO) -> str:
    """The encoding of a text file, which is read to its end and wound back."""
    start = file.read(2)
    if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        file.seek(0)
        return "utf-16"
    encoding, decoder = "utf-8-sig", codecs.getincrementaldecoder("utf-8")()
    chunk = start
    while True:
        if b"\x00" in chunk:
            raise DataError("this is not a text file; save the table as CSV")
        if encoding != "latin-1":
            try:
                decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError:
                encoding = "latin-1"
        if not chunk:
            file.seek(0)
            return encoding
        chunk = file.read(_BLOCK)


def table_of_file(file: BinaryIO) -> pd.DataFrame:
    """The table of a text file in whatever encoding."""
    text = io.TextIOWrapper(file, encoding_of(file), errors="replace")
    return table_of_text(iter(lambda: "".join(text.readlines(_BLOCK)), ""))


def table_of_text(text: str | Iterable[str]) -> pd.DataFrame:
    """The table of a text, or of pieces of whole lines; delimiter, header and the like are detected."""
    comments: list[str] = []
    lines = _lines([text] if isinstance(text, str) else text, comments)
    first = list(islice(lines, _SNIFFED_LINES + 1))
    if not first:
        raise DataError("the file is empty; give a header and one row per point")
    delimiter, decimal = _dialect([line for _, line in first])
    cells = _cells(*first[0], delimiter)
    header = None
    if not all(_is_value(cell, decimal) for cell in cells):
        header, first = cells, first[1:]
    elif comments and len(_cells(0, comments[-1], delimiter)) == len(cells):
        header = _cells(0, comments[-1], delimiter)  # as numpy.savetxt writes it
    if not first:
        raise DataError("the file has a header, but no rows of values")
    columns = _columns(chain(first, lines), delimiter, decimal)
    return _named(header, columns)


def _lines(pieces: Iterable[str], comments: list[str]) -> Iterator[Line]:
    """The lines with content; comments before the first of them are added to the list."""
    number, begun = 0, False
    for piece in pieces:
        for line in piece.splitlines():  # there are more ends of lines than files know
            number += 1
            if line.lstrip().startswith(_COMMENTS):
                comments += [] if begun else [line.lstrip().lstrip("".join(_COMMENTS)).strip()]
            elif line.strip():
                begun = True
                yield number, line


def _columns(lines: Iterator[Line], delimiter: str, decimal: str) -> list[Any]:
    """The columns as numbers or, where they are not, as a Series of objects."""
    number, line = next(lines)
    width = len(_cells(number, line, delimiter))
    lines = chain([(number, line)], lines)
    blocks: list[list[Any]] = []
    while block := list(islice(lines, 1 + _CELLS // width)):
        rows = []
        for number, line in block:
            row = _cells(number, line, delimiter)
            if len(row) != width:
                raise DataError(
                    f"line {number} has {len(row)} entries, those before have {width}; correct it"
                )
            rows.append(row)
        blocks.append([_column(cells, decimal) for cells in zip(*rows, strict=True)])
    for block in blocks:
        block.reverse()
    return [_joined([block.pop() for block in blocks]) for _ in range(width)]  # never all of it twice


def _named(header: list[str] | None, columns: list[Any]) -> pd.DataFrame:
    """The table, without columns that have neither a name nor values."""
    width = len(columns)
    if header is None:
        header = ["t", *(f"x{j}" for j in range(width - 1))]
    if len(header) == width - 1 and _names_rows(columns[0]):
        header = ["", *header]  # R leaves the column of row names without a title
    if len(header) != width:
        raise DataError(f"the header has {len(header)} names for {width} columns; give each column one name")
    used = [j for j in range(width) if header[j] or not pd.isna(columns[j]).all()]
    twice = [name for name, count in Counter(header[j] for j in used).items() if count > 1]
    if twice:
        raise DataError(f"two columns are called {twice[0][:60]!r}; give each column its own name")
    if len(used) < 2:
        raise DataError(
            "the file has a single column; give the time and at least one variable, separated by commas"
        )
    return pd.DataFrame({header[j]: columns[j] for j in used}, copy=False)


def _names_rows(column: Any) -> bool:
    """Whether a column names or numbers the rows: text, or 1, 2, 3, ..."""
    if not isinstance(column, np.ndarray):
        return not any(isinstance(one, float) for one in column)
    return column[0] in (0.0, 1.0) and np.array_equal(column, column[0] + np.arange(len(column)))


def _dialect(lines: Sequence[str]) -> tuple[str, str]:
    """The delimiter and the decimal mark under which most cells are numbers or dates."""
    best, choice = -1.0, (",", ".")
    for delimiter, decimal in ((",", "."), (";", "."), (";", ","), ("\t", "."), ("\t", ","), ("|", "."),
                               ("|", ","), (" ", "."), (" ", ",")):  # fmt: skip
        rows = [_cells(number, line, delimiter) for number, line in enumerate(lines, start=1)]
        body = rows[1:] or rows
        if max(map(len, body)) < 2:
            continue
        same_width = sum(len(row) == len(body[0]) for row in body) / len(body)
        cells = [cell for row in body for cell in row]
        # Groups of digits do not count here: 1,234 may be a decimal comma.
        score = same_width * sum(_is_value(cell, decimal, plain_number) for cell in cells) / len(cells)
        if score > best:
            best, choice = score, (delimiter, decimal)
    return choice


def _cells(number: int, line: str, delimiter: str) -> list[str]:
    if line.count(delimiter) >= MOST_COLUMNS and (delimiter != " " or len(line.split()) > MOST_COLUMNS):
        raise DataError(f"line {number} has more than {MOST_COLUMNS} columns, which is the limit")
    if delimiter == " ":
        return line.split()
    if '"' not in line:
        return [cell.strip() for cell in line.split(delimiter)]
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))]
    except csv.Error as error:
        raise DataError(f"line {number}, {line[:40]!r}, cannot be read: {error}") from None


def _is_value(cell: str, decimal: str, read: Callable[[str, str], float | None] = number_of) -> bool:
    """A number, a date or nothing."""
    if cell.lower() in MISSING or re.match(r"\d{1,4}[-/.:]\d{1,2}[-/.:]\d", cell):
        return True
    return read(cell, decimal) is not None


def _column(cells: Sequence[str], decimal: str) -> Any:
    """Numbers, or a list in which cells that are not numbers are text; missing entries are NaN or None."""
    if decimal == ".":
        try:
            values = np.fromiter(map(float, cells), np.float64, len(cells))
        except ValueError:
            pass
        else:
            if not any("_" in cell for cell in cells):
                return values
    known = [None if cell.lower() in MISSING else cell for cell in cells]
    numbers = [np.nan if cell is None else number_of(cell, decimal) for cell in known]
    if None not in numbers:
        return np.array(numbers, dtype=np.float64)
    return [
        cell if cell is None or value is None else value for cell, value in zip(known, numbers, strict=True)
    ]


def _joined(parts: Sequence[Any]) -> Any:
    """One column of several blocks."""
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    values: list[Any] = []
    for part in parts:
        values += [None if np.isnan(one) else one for one in part] if isinstance(part, np.ndarray) else part
    return pd.Series(values, dtype=object)
