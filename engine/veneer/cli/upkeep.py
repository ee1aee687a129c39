"""`fsck`, `gc`, `verify`: is everything whole, what is not needed, does it still do what it did?"""

from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Annotated

import typer
from rich.filesize import decimal

from veneer.cli.session import JsonFlag, Session, session_of
from veneer.errors import NothingActive, UsageError
from veneer.identity import short
from veneer.upkeep.collect import GRACE
from veneer.upkeep.proving import Verdict
from veneer.upkeep.rebuild import Rebuilt
from veneer.upkeep.report import Finding, FsckReport
from veneer.workspace import Workspace


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(fsck)
    app.command()(gc)
    app.command()(verify)


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
        _print(session, _rebuilt_lines(rebuilt))
        _print(session, _report_lines(found))
    session.exit_code = 0 if found.ok else 1


def gc(
    context: typer.Context,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print the plan.")] = False,
    grace: Annotated[
        float, typer.Option(min=0.0, help="Days that a file stays after nothing needs it.")
    ] = GRACE / timedelta(days=1),
    json: JsonFlag = False,
) -> None:
    """Remove files that nothing needs: marked the first time, gone when their grace has passed."""
    session = session_of(context)
    with session.write() as workspace:
        done = session.take(workspace.gc(grace=timedelta(days=grace), dry_run=dry_run))
    if json:
        session.print_json(done)
    else:
        _print(session, done.plan.lines())
        _print(session, (f"could not be removed: {why}" for why in done.stuck))
    session.exit_code = 1 if done.plan.blocked or done.stuck else 0


def verify(
    context: typer.Context,
    ref: Annotated[
        str | None, typer.Argument(help="A base, adapter or stack; else what is active.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="The whole library.")] = False,
    json: JsonFlag = False,
) -> None:
    """Hash bases and adapters anew, and run them: a base gives numbers, an adapter changes them.

    Exit code 1 if something is wrong with one of them.
    """
    session = session_of(context)
    if everything and ref is not None:
        raise UsageError("Give either a REF or --all.")
    with session.write() as workspace, session.progress("hashing", json=json) as report:
        about = None if everything else ref or _active(workspace)
        found = session.take(workspace.verify(about, progress=report, cancel=session.cancel))
    if json:
        session.print_json({"ok": found.ok, "verdicts": found.verdicts})
    else:
        _print(session, map(_verdict_line, found.verdicts))
    session.exit_code = 0 if found.ok else 1


def _active(workspace: Workspace) -> str:
    active = workspace.active()
    if active is None:
        raise NothingActive("No composition is active yet. Give a REF, or --all.")
    return active[1].id


def _verdict_line(verdict: Verdict) -> str:
    if not verdict.ok:
        said = f"{verdict.code}: {verdict.message}"
    elif verdict.probed_on is None:
        said = f"its bytes are right. {verdict.message}"
    else:
        does = {
            "base": "it gives numbers",
            "adapter": f"it changes what “{verdict.probed_on}” says",
            "composition": "all of it together gives numbers",
        }
        said = f"its bytes are right, and {does[verdict.kind]}"
    return f"{verdict.kind} {verdict.name}: {said}"


def _print(session: Session, lines: Iterable[str]) -> None:
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
