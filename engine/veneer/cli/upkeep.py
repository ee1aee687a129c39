"""`fsck`: is everything whole?"""

from collections.abc import Iterator
from typing import Annotated

import typer
from rich.filesize import decimal

from veneer.cli.session import JsonFlag, Session, session_of
from veneer.identity import short
from veneer.upkeep.rebuild import Rebuilt
from veneer.upkeep.report import Finding, FsckReport
from veneer.workspace import Workspace


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(fsck)


def fsck(
    context: typer.Context,
    repair: Annotated[
        bool, typer.Option("--repair", help="Repair what is certain; damaged files are kept aside.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Check that everything in the workspace is whole. Exit code 1 if something is not."""
    session = session_of(context)
    rebuilt = None
    if repair and session.held is None:
        # Only while nobody has the database open can another one take its place.
        rebuilt = Workspace.rebuild(session.root, cancel=session.cancel)
    with session.write() as workspace, session.progress("checking", json=json) as report:
        found = session.take(workspace.fsck(repair=repair, progress=report, cancel=session.cancel))
    if json:
        session.print_json({"ok": found.ok, "report": found, "rebuilt": rebuilt})
    else:
        _print(session, [*_rebuilt_lines(rebuilt), *_report_lines(found)])
    session.exit_code = 0 if found.ok else 1


def _print(session: Session, lines: list[str]) -> None:
    for line in lines:
        session.out.print(line, markup=False)


def _rebuilt_lines(rebuilt: Rebuilt | None) -> Iterator[str]:
    if rebuilt is None:
        return
    yield f"The catalog was made anew. The old one: {rebuilt.kept or 'there was none'}"
    rows = ", ".join(f"{count} {table}" for table, count in rebuilt.rows.items() if count)
    yield f"  read of the old one: {rows or 'nothing'}"
    adopted, compositions = len(rebuilt.adopted), len(rebuilt.compositions)
    yield f"  taken up from files: {adopted} bases and adapters, {compositions} compositions"
    for digest in rebuilt.bases_wanted:
        yield f"  compositions need the base {short(digest)}, which was linked: import it again"


def _report_lines(report: FsckReport) -> Iterator[str]:
    size = decimal(report.bytes)
    yield f"{report.objects} objects ({size}) and {report.manifests} manifests were looked at."
    for finding in report.findings:
        yield _line(finding)
    if not report.findings:
        yield "All is well."
    elif report.ok:
        yield "Nothing is left to do."
    elif not any(finding.repair for finding in report.findings):
        yield "“veneer fsck --repair” repairs what is certain, and deletes nothing."


def _line(finding: Finding) -> str:
    done = f" [{finding.repair}]" if finding.repair else ""
    return f"  {finding.code}  {finding.where}: {finding.message}{done}"
