"""The only module that imports PySide6: everything else takes Qt from here.

So that the modules of Qt in use stay few and known, and another binding would be one edit.
"""

import ctypes
import sys

from PySide6 import QtCore, QtGui, QtSvg, QtWidgets

Signal = QtCore.Signal
Slot = QtCore.Slot
Qt = QtCore.Qt

_PLENTY = 1 << 40


def _keep_constants() -> None:
    """Give None, True and False references to spare.

    PySide 6.12.0 counts on them being immortal, as they are since Python 3.12: each signal that
    is emitted takes a reference of True, each `processEvents` one of None, and Python 3.11 ends
    the process when the last one is gone. The first field of an object is its reference count.
    """
    for constant in (None, True, False):
        ctypes.c_ssize_t.from_address(id(constant)).value += _PLENTY


if sys.version_info < (3, 12) and sys.implementation.name == "cpython":
    _keep_constants()

__all__ = ["Qt", "QtCore", "QtGui", "QtSvg", "QtWidgets", "Signal", "Slot"]
