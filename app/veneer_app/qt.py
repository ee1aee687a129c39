"""The only module that imports PySide6: everything else takes Qt from here.

So that the modules of Qt in use stay few and known, and another binding would be one edit.
"""

from PySide6 import QtCore, QtGui, QtSvg, QtWidgets

Signal = QtCore.Signal
Slot = QtCore.Slot
Qt = QtCore.Qt

__all__ = ["Qt", "QtCore", "QtGui", "QtSvg", "QtWidgets", "Signal", "Slot"]
