"""The list of trusted keys in the Settings."""

from veneer.compose.signing import key_from
from veneer.store.trust import TrustedKey
from veneer.workspace import Workspace
from veneer_app import text
from veneer_app.operations import Operations
from veneer_app.parts import fields
from veneer_app.parts.controls import Elided, button, clear, column, icon_button, label, row
from veneer_app.qt import QtWidgets

Keys = tuple[TrustedKey, ...]


class Trusted(QtWidgets.QWidget):
    """Shows the keys whose signatures count in this workspace; adds one and takes one off."""

    def __init__(self, operations: Operations) -> None:
        super().__init__()
        self._operations = operations
        self._list = column(spacing=4)
        self.none = label(self.tr("No key is trusted yet."), "muted")
        self.key = fields.line(self.tr("Public key"), self.tr("ed25519:…, as its owner sees it"))
        self.name = fields.line(self.tr("Whose key it is"), self.tr("Whose it is"))
        self.add = button(self.tr("Trust"), "plus", on_click=self._add)
        self.name.returnPressed.connect(self._add)
        adder = row(self.key, self.name, self.add)
        adder.setStretch(0, 1)
        self.setLayout(column(self.none, self._list, adder))
        operations.read(_all, self._show)

    def _show(self, keys: Keys) -> None:
        clear(self._list)
        self.none.setVisible(not keys)
        for known in keys:
            self._list.addWidget(self._line(known))

    def _line(self, known: TrustedKey) -> QtWidgets.QWidget:
        shown = f"{text.plain(known.name, 60)}  {known.key}".strip()
        said = self.tr("Trust the key of {name} no more").format(name=text.plain(known.name, 60))
        made = QtWidgets.QWidget()
        layout = row(Elided(shown), icon_button("close", said, lambda: self._remove(known.key)))
        layout.setStretch(0, 1)
        made.setLayout(layout)
        return made

    def _add(self) -> None:
        key, name = self.key.text(), self.name.text()

        def work(workspace: Workspace) -> Keys:
            workspace.signatures.trusted.add(key_from(key), name)
            return _all(workspace)

        def added(keys: Keys) -> None:
            self.key.clear()
            self.name.clear()
            self._show(keys)

        self._operations.do(work, added)

    def _remove(self, key: str) -> None:
        def work(workspace: Workspace) -> Keys:
            workspace.signatures.trusted.remove(key)
            return _all(workspace)

        self._operations.do(work, self._show)


def _all(workspace: Workspace) -> Keys:
    return workspace.signatures.trusted.all()
