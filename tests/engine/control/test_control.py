"""Both ends of the channel on a real socket: the asker on the main thread, as it is in use."""

import os
import signal
import stat
import threading
from pathlib import Path

import msgspec
import pytest

from veneer.control import address, messages
from veneer.control.client import hand_over, raise_window
from veneer.control.messages import Run
from veneer.control.server import Caller, Server
from veneer.errors import ControlFailed
from veneer.store.fs import RealFs
from veneer.store.layout import Layout


class Screen:
    """A terminal that remembers."""

    def __init__(self, *typed: str) -> None:
        self.shown: list[tuple[str, str]] = []
        self.prompts: list[str] = []
        self._typed = list(typed)

    def write(self, stream: str, text: str) -> None:
        self.shown.append((stream, text))

    def read_line(self, prompt: str) -> str | None:
        self.prompts.append(prompt)
        return self._typed.pop(0) if self._typed else None


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for directory in Layout(tmp_path).directories:
        RealFs().make_dirs(directory)
    return tmp_path


def asked(*words: str) -> Run:
    return Run(words=words, cwd="/somewhere", columns=93, interactive=False)


def nothing(run: Run, caller: Caller) -> int:
    return 0


def test_a_command_line_is_carried_out_and_its_output_comes_back(root: Path):
    heard: list[Run] = []

    def carry(run: Run, caller: Caller) -> int:
        heard.append(run)
        caller.write("out", "done ")
        caller.write("err", "oh")
        caller.write("out", "it")
        return 7

    screen = Screen()
    with Server(root, carry):
        assert hand_over(root, asked("activate", "x"), screen) == 7
    assert heard == [asked("activate", "x")]
    assert screen.shown == [("out", "done "), ("err", "oh"), ("out", "it")]


def test_lines_are_typed_at_the_askers_end(root: Path):
    lines: list[str | None] = []

    def carry(run: Run, caller: Caller) -> int:
        lines.extend(caller.read_line("> ") for _ in range(3))
        return 0

    screen = Screen("one", "two")
    with Server(root, carry):
        assert hand_over(root, asked("chat"), screen) == 0
    assert lines == ["one", "two", None]
    assert screen.prompts == ["> "] * 3


def test_ctrl_c_reaches_the_command_and_its_last_words_come_back(root: Path):
    def carry(run: Run, caller: Caller) -> int:
        os.kill(os.getpid(), signal.SIGINT)
        assert caller.cancel._event.wait(10)
        caller.write("err", "stopped")
        return 1

    screen = Screen()
    before = signal.getsignal(signal.SIGINT)
    with Server(root, carry):
        assert hand_over(root, asked("import", "x"), screen) == 1
    assert screen.shown == [("err", "stopped")]
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_while_a_line_is_typed_leaves_and_ends_the_command(root: Path):
    ended = threading.Event()

    class Impatient(Screen):
        def read_line(self, prompt: str) -> str | None:
            os.kill(os.getpid(), signal.SIGINT)
            signal.pause()
            return None

    def carry(run: Run, caller: Caller) -> int:
        if caller.read_line("> ") is None and caller.cancel.cancelled:
            ended.set()
        return 0

    with Server(root, carry):
        with pytest.raises(KeyboardInterrupt):
            hand_over(root, asked("chat"), Impatient())
        assert ended.wait(10)


def test_a_caller_that_has_gone_stops_its_command(root: Path):
    seen = threading.Event()

    def carry(run: Run, caller: Caller) -> int:
        if caller.cancel._event.wait(10):
            seen.set()
        return 0

    class Dying(Screen):
        def write(self, stream: str, text: str) -> None:
            raise RuntimeError("the terminal is gone")

    def talking(run: Run, caller: Caller) -> int:
        caller.write("out", "hello")
        return carry(run, caller)

    with Server(root, talking):
        with pytest.raises(RuntimeError):
            hand_over(root, asked("x"), Dying())
        assert seen.wait(10)


def test_without_a_holder_nothing_is_handed_over(root: Path):
    assert hand_over(root, asked("x"), Screen()) is None
    assert not raise_window(root)


def test_the_address_of_a_dead_holder_leads_nowhere_and_the_next_one_replaces_it(root: Path):
    old = Server(root, nothing)
    left = Layout(root).control.read_bytes()
    old.close()
    Layout(root).control.write_bytes(left)
    (root / "control.sock").touch()
    assert hand_over(root, asked("x"), Screen()) is None
    with Server(root, nothing):
        assert hand_over(root, asked("x"), Screen()) == 0


def test_another_user_who_lacks_the_key_is_not_heard(root: Path):
    heard: list[Run] = []

    def carry(run: Run, caller: Caller) -> int:
        heard.append(run)
        return 0

    control = Layout(root).control
    with Server(root, carry):
        found = address.find(RealFs(), Layout(root))
        assert found is not None
        forged = msgspec.structs.replace(found, key="00" * 32)
        real = control.read_bytes()
        control.write_bytes(msgspec.json.encode(forged))
        assert hand_over(root, asked("x"), Screen()) is None
        control.write_bytes(real)
        assert hand_over(root, asked("y"), Screen()) == 0
    assert [run.words for run in heard] == [("y",)]


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX's")
def test_the_key_is_for_its_owner_alone(root: Path):
    with Server(root, nothing):
        assert stat.S_IMODE(Layout(root).control.stat().st_mode) == 0o600


def test_nothing_stays_of_a_server_that_was_closed(root: Path):
    before = sorted(path.name for path in root.rglob("*"))
    Server(root, nothing).close()
    assert sorted(path.name for path in root.rglob("*")) == before


@pytest.mark.skipif(os.name == "nt", reason="pipes have no path")
def test_a_workspace_with_a_long_path_listens_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    deep = tmp_path / ("d" * 120)
    for directory in Layout(deep).directories:
        RealFs().make_dirs(directory)
    with Server(deep, nothing):
        assert not (deep / "control.sock").exists()
        assert hand_over(deep, asked("x"), Screen()) == 0


def test_closing_the_server_stops_the_commands_of_its_callers(root: Path):
    begun = threading.Event()

    def carry(run: Run, caller: Caller) -> int:
        begun.set()
        assert caller.cancel._event.wait(10)
        return 3

    server = Server(root, carry)
    closer = threading.Thread(target=lambda: (begun.wait(10), server.close()))
    closer.start()
    assert hand_over(root, asked("x"), Screen()) == 3
    closer.join()


def test_a_window_is_raised_with_files_and_a_terminal_is_not(root: Path):
    shown: list[tuple[Path, ...]] = []
    with Server(root, nothing, shown.append):
        assert raise_window(root, (Path("/a/b.gguf"),))
    assert shown == [(Path("/a/b.gguf"),)]
    with Server(root, nothing):
        assert not raise_window(root)


def test_what_is_not_understood_is_said():
    with pytest.raises(ControlFailed, match="another version"):
        messages.from_holder(b"\x81\xa4type\xa4Next")
    with pytest.raises(ControlFailed, match="was not understood"):
        messages.from_asker(b"junk")
