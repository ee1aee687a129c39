"""The style sheet, in the order: plain widgets, text, buttons, fields, lists, places.

Widgets say what they are by the properties `role` (text and panels) and `kind` (buttons). Every
control has a border of the same width with and without focus, so that nothing moves.
"""

from dataclasses import asdict
from string import Template

from veneer_app.theme.tokens import Tokens

_SHEET = Template("""
QWidget { color: $text; }
QMainWindow, QDialog, QWidget[role="place"] { background: $window; }
QWidget[role="clear"], QScrollArea, QScrollArea > QWidget > QWidget[role="clear"] {
    background: transparent; border: none; }
QToolTip { background: $raised; color: $text; border: 1px solid $border_strong; padding: 4px 8px; }

QLabel { background: transparent; }
QMessageBox QLabel { min-width: 340px; padding: 2px 8px 2px 0; }
QMessageBox QLabel#qt_msgbox_label { font-size: 11pt; font-weight: 600; }
QMessageBox QLabel#qt_msgboxex_icon_label { min-width: 0; }
QLabel[role="title"] { font-size: 15pt; font-weight: 600; }
QLabel[role="heading"] { font-weight: 600; }
QLabel[role="caption"] { color: $muted; font-size: 8pt; font-weight: 600; }
QLabel[role="muted"] { color: $muted; }
QLabel[role="good"] { color: $good; }
QLabel[role="bad"] { color: $bad; }
QLabel[role="badge"] { color: $muted; background: $raised; border-radius: 4px; padding: 1px 6px;
    font-size: 8pt; }
QLabel[role="badge-good"] { color: $good; background: $raised; border-radius: 4px;
    padding: 1px 6px; font-size: 8pt; }
QLabel[role="badge-bad"] { color: $bad; background: $bad_soft; border-radius: 4px;
    padding: 1px 6px; font-size: 8pt; }

QLabel[role^="step"] { color: $muted; background: $raised; border-radius: 10px;
    padding: 2px 10px; font-size: 9pt; }
QLabel[role="step-now"] { color: $on_accent; background: $accent; }
QLabel[role="step-done"] { color: $good; background: $raised; }
QLabel[role="step-bad"] { color: $bad; background: $bad_soft; }
QLabel[role="step"] { color: $muted; background: $raised; border-radius: 4px; padding: 2px 8px; }
QLabel[role="step-now"] { color: $accent; background: $accent_soft; border-radius: 4px;
    padding: 2px 8px; }
QLabel[role="step-done"] { color: $good; background: $raised; border-radius: 4px;
    padding: 2px 8px; }
QLabel[role="step-bad"] { color: $bad; background: $bad_soft; border-radius: 4px;
    padding: 2px 8px; }

QFrame[role="card"] { background: $surface; border: 1px solid $border; border-radius: 8px; }
QFrame[role="card-bad"] { background: $surface; border: 1px solid $bad; border-radius: 8px; }
QFrame[role="card-off"] { background: $window; border: 1px dashed $border_strong;
    border-radius: 8px; }
QFrame[role="panel"] { background: $surface; border: none; border-right: 1px solid $border; }
QFrame[role="panel-right"] { background: $surface; border: none; border-left: 1px solid $border; }
QFrame[role="rail"] { background: $rail; border: none; border-right: 1px solid $border; }
QFrame[role="topbar"] { background: $surface; border: none; border-bottom: 1px solid $border; }
QFrame[role="tray"] { background: $surface; border: none; border-top: 1px solid $border; }
QFrame[role="notice"] { background: $bad_soft; border: none; border-bottom: 1px solid $bad; }
QFrame[role="notice-info"] { background: $accent_soft; border: none;
    border-bottom: 1px solid $accent; }
QFrame[role="bubble"] { background: $accent_soft; border: none; border-radius: 12px; }
QFrame[role="line"] { background: $border; border: none; max-height: 1px; min-height: 1px; }
QFrame[role="drop"] { background: transparent; border: 2px dashed $border_strong;
    border-radius: 12px; }
QFrame[role="inset"] { background: $raised; border: none; border-radius: 6px; }
QFrame[role="code"] { background: $code; border: 1px solid $border; border-radius: 8px; }
QFrame[role="composer"] { background: $surface; border: 2px solid $border; border-radius: 12px; }
QFrame[role="composer"][focused="true"] { border-color: $accent; }

QPushButton, QToolButton { background: $surface; border: 2px solid $border; border-radius: 6px;
    padding: 4px 12px; min-height: 20px; }
QPushButton:hover, QToolButton:hover { background: $raised; }
QPushButton:pressed, QToolButton:pressed { background: $border; }
QPushButton:focus, QToolButton:focus { border-color: $accent; }
QPushButton:disabled, QToolButton:disabled { color: $border_strong; border-color: $border; }
QPushButton[kind="primary"] { background: $accent; color: $on_accent; border-color: $accent;
    font-weight: 600; }
QPushButton[kind="primary"]:hover { background: $accent_hover; border-color: $accent_hover; }
QPushButton[kind="primary"]:focus { border-color: $text; }
QPushButton[kind="primary"]:disabled { background: $raised; color: $border_strong;
    border-color: $border; }
QPushButton[kind="danger"] { color: $bad; }
QPushButton[kind="quiet"], QToolButton[kind="quiet"] { background: transparent;
    border-color: transparent; padding: 4px 8px; }
QPushButton[kind="quiet"]:hover, QToolButton[kind="quiet"]:hover { background: $raised; }
QPushButton[kind="quiet"]:focus, QToolButton[kind="quiet"]:focus { border-color: $accent; }
QToolButton[kind="icon"] { background: transparent; border: 2px solid transparent;
    padding: 2px; min-height: 20px; min-width: 20px; }
QToolButton[kind="icon"]:hover { background: $raised; }
QToolButton[kind="icon"]:focus { border-color: $accent; }
QToolButton[kind="round"] { background: $accent; border: 2px solid $accent; border-radius: 16px;
    padding: 0; min-width: 28px; max-width: 28px; min-height: 28px; max-height: 28px; }
QToolButton[kind="round"]:hover { background: $accent_hover; }
QToolButton[kind="round"]:focus { border-color: $text; }
QToolButton[kind="round"]:disabled { background: $raised; border-color: $raised; }
QToolButton[kind="rail"] { background: transparent; border: 2px solid transparent;
    border-radius: 8px; padding: 6px 0; color: $muted; }
QToolButton[kind="rail"]:hover { background: $border; }
QToolButton[kind="rail"]:checked { background: $surface; color: $text; font-weight: 600; }
QToolButton[kind="rail"]:focus { border-color: $accent; }
QPushButton[kind="chip"] { background: $surface; border: 2px solid $border; border-radius: 14px;
    padding: 2px 12px; }
QPushButton[kind="chip"]:hover { background: $raised; }
QPushButton[kind="chip"]:checked { background: $accent_soft; border-color: $accent;
    color: $text; }
QPushButton[kind="chip"]:focus { border-color: $text; }
QToolButton::menu-indicator, QPushButton::menu-indicator { image: none; width: 0; }

QLineEdit, QPlainTextEdit, QSpinBox, QDoubleSpinBox, QComboBox { background: $surface;
    border: 2px solid $border; border-radius: 6px; padding: 3px 8px; min-height: 20px;
    selection-background-color: $accent; selection-color: $on_accent; }
QLineEdit:hover, QPlainTextEdit:hover, QSpinBox:hover, QDoubleSpinBox:hover, QComboBox:hover {
    border-color: $border_strong; }
QLineEdit:focus, QPlainTextEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus {
    border-color: $accent; }
QLineEdit:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled, QComboBox:disabled {
    color: $muted; background: $window; }
QAbstractSpinBox QLineEdit { background: transparent; border: none; padding: 0 0 0 6px;
    min-height: 0; }
QLineEdit[role="heading"] { font-size: 13pt; font-weight: 600; border-color: transparent;
    background: transparent; }
QLineEdit[role="heading"]:hover { border-color: $border; }
QLineEdit[role="heading"]:focus { border-color: $accent; background: $surface; }
QPlainTextEdit[role="code"] { border: none; background: transparent; padding: 0; }
QPlainTextEdit[role="composer"] { border: none; background: transparent; padding: 0; }
QTextBrowser, QTextEdit[role="side"] { background: transparent; border: none;
    selection-background-color: $accent; selection-color: $on_accent; }
QComboBox::drop-down { border: none; width: 22px; }
QComboBox::down-arrow { image: url("$icons/sheet-down.svg"); width: 14px; height: 14px; }
QComboBox QAbstractItemView { background: $surface; border: 1px solid $border_strong;
    selection-background-color: $accent_soft; selection-color: $text; outline: none; padding: 4px; }
QSpinBox::up-button, QDoubleSpinBox::up-button { border: none; width: 18px; height: 12px;
    subcontrol-position: top right; }
QSpinBox::down-button, QDoubleSpinBox::down-button { border: none; width: 18px; height: 12px;
    subcontrol-position: bottom right; }
QSpinBox::up-arrow, QDoubleSpinBox::up-arrow { image: url("$icons/sheet-up.svg");
    width: 10px; height: 10px; }
QSpinBox::down-arrow, QDoubleSpinBox::down-arrow { image: url("$icons/sheet-down.svg");
    width: 10px; height: 10px; }
QCheckBox { spacing: 8px; background: transparent; }
QCheckBox::indicator { width: 16px; height: 16px; border: 2px solid $border_strong;
    border-radius: 5px; background: $surface; }
QCheckBox::indicator:hover { border-color: $accent; }
QCheckBox::indicator:checked { background: $accent; border-color: $accent;
    image: url("$icons/sheet-check-$mode.svg"); }
QCheckBox::indicator:focus { border-color: $text; }
QSlider { min-height: 24px; background: transparent; border: 2px solid transparent;
    border-radius: 6px; }
QSlider:focus { border-color: $accent; }
QSlider::groove:horizontal { height: 4px; border-radius: 2px; background: $border_strong; }
QSlider::handle:horizontal { width: 14px; height: 14px; margin: -5px 0; border-radius: 7px;
    background: $accent; }
QSlider::handle:horizontal:hover { background: $accent_hover; }
QSlider::groove:horizontal:disabled, QSlider::handle:horizontal:disabled {
    background: $border; }
QProgressBar { background: $raised; border: none; border-radius: 3px; max-height: 6px;
    min-height: 6px; }
QProgressBar::chunk { background: $accent; border-radius: 3px; }

QAbstractItemView { background: $surface; border: 2px solid transparent; outline: none;
    alternate-background-color: $surface; selection-background-color: $accent_soft;
    selection-color: $text; }
QAbstractItemView:focus { border-color: $accent; }
QTableView { gridline-color: transparent; border-radius: 8px; border: 2px solid $border; }
QTableView::item { padding: 0 8px; border-bottom: 1px solid $border; }
QTableView::item:selected { background: $accent_soft; color: $text; }
QHeaderView { background: $surface; border: none; }
QHeaderView::section { background: $surface; color: $muted; border: none;
    border-bottom: 1px solid $border; padding: 6px 11px; font-weight: 600; font-size: 8pt; }
QHeaderView::down-arrow { image: url("$icons/sheet-down.svg"); width: 12px; height: 12px; }
QHeaderView::up-arrow { image: url("$icons/sheet-up.svg"); width: 12px; height: 12px; }
QMenu { background: $surface; border: 1px solid $border_strong; padding: 4px; }
QMenu::item { padding: 6px 24px 6px 12px; border-radius: 4px; }
QMenu::item:selected { background: $accent_soft; }
QMenu::item:disabled { color: $muted; }
QMenu::separator { height: 1px; background: $border; margin: 4px 8px; }
QSplitter::handle { background: transparent; }
QScrollBar:vertical { background: transparent; width: 12px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 12px; margin: 0; }
QScrollBar::handle { background: $border_strong; border-radius: 4px; margin: 2px;
    min-height: 32px; min-width: 32px; }
QScrollBar::handle:hover { background: $muted; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractScrollArea::corner { background: transparent; }
""")


def sheet(tokens: Tokens, icons: str) -> str:
    """The whole style sheet for one theme; `icons` is the folder of the icons."""
    mode = "dark" if tokens.dark else "light"
    return _SHEET.substitute(asdict(tokens), icons=icons.replace("\\", "/"), mode=mode)
