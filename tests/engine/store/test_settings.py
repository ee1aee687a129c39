from pathlib import Path
from typing import Any

import msgspec
import pytest

from veneer import Workspace
from veneer.errors import BadSetting


def test_settings_are_kept(workspace: Workspace):
    changed = msgspec.structs.replace(workspace.settings, n_ctx=1024, theme="dark")
    workspace.change_settings(changed)
    with Workspace.open(workspace.root, writable=False) as again:
        assert again.settings == changed


def test_a_new_workspace_has_the_defaults(tmp_path: Path):
    with Workspace.open(tmp_path) as workspace:
        assert workspace.settings.n_ctx == 4096
        assert workspace.settings.memory_budget == 0
        assert workspace.settings.theme == "system"


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_ctx", 0), ("n_threads", 0), ("n_gpu_layers", -1), ("memory_budget", -1), ("theme", "red")],
)
def test_a_value_that_makes_no_sense_is_refused_by_name(
    workspace: Workspace, name: str, value: Any
):
    before = workspace.settings
    with pytest.raises(BadSetting, match=f"The setting {name} cannot be {value!r}: "):
        workspace.change_settings(msgspec.structs.replace(before, **{name: value}))
    assert workspace.settings == before


def test_a_row_of_another_veneer_is_left_alone(tmp_path: Path):
    with Workspace.open(tmp_path) as workspace:
        workspace.change_settings(msgspec.structs.replace(workspace.settings, kv_budget=5))
        with workspace._settings._database.transaction() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO settings VALUES (?, ?)",
                [("n_ctx", "-1"), ("type_kv", '"q2_k"'), ("moods", "[]")],
            )
        assert workspace.settings == msgspec.structs.replace(
            workspace.settings, n_ctx=4096, type_kv="f16", kv_budget=5
        )
