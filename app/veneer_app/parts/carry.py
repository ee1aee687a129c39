"""What a mouse carries while it drags an adapter, from whatever list to the stack."""

from veneer.identity import Digest
from veneer_app.qt import QtCore

_FORMAT = "application/x-veneer-adapter"


def carrying(adapter: Digest) -> QtCore.QMimeData:
    """An adapter to be dragged."""
    data = QtCore.QMimeData()
    data.setData(_FORMAT, adapter.encode())
    return data


def carried(data: QtCore.QMimeData) -> Digest | None:
    """The adapter that is being dragged, if it is one."""
    if not data.hasFormat(_FORMAT):
        return None
    return Digest(bytes(data.data(_FORMAT).data()).decode())
