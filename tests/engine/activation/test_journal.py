from veneer import Workspace


def test_a_committed_generation_is_never_aborted_afterwards(workspace: Workspace):
    number = workspace.activate("plain").value.generation
    before = workspace.journal.get(number)
    workspace.journal.abort(number, "CANCELLED: too late")
    assert workspace.journal.get(number) == before
    assert before.state == "COMMITTED"


def test_an_aborted_generation_keeps_its_first_reason(workspace: Workspace):
    number = workspace.journal.request(workspace.stacks.find("plain").id, "api")
    workspace.journal.abort(number, "first")
    workspace.journal.abort(number, "second")
    kept = workspace.journal.get(number)
    assert (kept.state, kept.reason) == ("ABORTED", "first")
    assert [t.state for t in kept.transitions] == ["REQUESTED", "ABORTED"]


def test_a_generation_is_read_without_a_look_at_all_the_others(workspace: Workspace):
    asked: list[str] = []
    connection = workspace.journal._database._connection
    number = workspace.journal.request(workspace.stacks.find("plain").id, "api")
    connection.set_trace_callback(asked.append)
    assert [t.state for t in workspace.journal.get(number).transitions] == ["REQUESTED"]
    connection.set_trace_callback(None)
    plans = [connection.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall() for sql in asked]
    steps = [row["detail"] for plan in plans for row in plan]
    assert any("transitions" in step for step in steps)
    assert [step for step in steps if step.startswith("SCAN")] == []
