"""A result for notebooks: the table as HTML, with equations that the browser draws (MathML)."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from odefinder.data.dataset import Dataset
from odefinder.expressions.mathml import mathml_name, to_mathml
from odefinder.inference.remarks import Explanation
from odefinder.output.higher_order import state_names, written_equations
from odefinder.output.table import MARK, header, named, rows
from odefinder.system import ODESystem

_CELL = "padding: 0.3em 0.9em 0.3em 0; vertical-align: top; border: none; text-align: left;"


def as_html(
    dataset: Dataset,
    explanations: Sequence[Explanation],
    chosen: int,
    notes: Sequence[str] = (),
) -> str:
    """The table, with the data above it and the notes below; the chosen row is bold."""
    cells = rows(dataset, explanations, chosen)
    lines = [f"<div><p>{escape(str(dataset))}</p>", '<table style="border-collapse: collapse;">', "<tr>"]
    lines += [f'<th style="{_CELL}">{escape(title)}</th>' for title in header(explanations)]
    lines.append("</tr>")
    for row in cells:
        one = explanations[int(row[1])]
        weight = " font-weight: bold;" if row[0] == MARK else ""
        texts = [("▸" if row[0] else ""), *row[1:-1]]
        lines.append(f'<tr style="background: none;{weight}">')
        lines += [f'<td style="{_CELL}">{escape(text)}</td>' for text in texts]
        also = f"<br>{escape(named(one))}" if named(one) else ""
        lines.append(f'<td style="{_CELL}">{equations(one.system, dataset)}{also}</td></tr>')
    lines.append("</table>")
    hidden = len(explanations) - len(cells)
    if hidden:
        lines.append(f"<p>and {hidden} more</p>")
    if notes:
        lines.append("<ul>" + "".join(f"<li>{escape(note)}</li>" for note in notes) + "</ul>")
    return "\n".join([*lines, "</div>"])


def equations(system: ODESystem, dataset: Dataset) -> str:
    """The equations as one block of MathML, aligned at the equals sign."""
    names = state_names(system, dataset)
    body = "".join(
        f'<mtr><mtd style="text-align: right;">{mathml_name(names[number] + chr(39))}</mtd>'
        f'<mtd style="text-align: left;"><mo>=</mo>'
        f"{to_mathml(equation, [*names, *system.inputs], system.digits)}</mtd></mtr>"
        for number, equation, _ in written_equations(system, dataset)
    )
    return f'<math display="inline"><mtable columnspacing="0.2em">{body}</mtable></math>'
