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
