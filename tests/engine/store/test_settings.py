import msgspec

from veneer import Workspace


def test_settings_are_kept(workspace: Workspace):
    changed = msgspec.structs.replace(workspace.settings, n_ctx=1024, theme="dark")
    workspace.change_settings(changed)
    with Workspace.open(workspace.root, writable=False) as again:
        assert again.settings == changed


def test_a_new_workspace_has_the_defaults(tmp_path):
    with Workspace.open(tmp_path) as workspace:
        assert workspace.settings.n_ctx == 4096
        assert workspace.settings.memory_budget == 0
        assert workspace.settings.theme == "system"
