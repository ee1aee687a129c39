"""A hub on this machine that speaks Hugging Face's protocol, and can misbehave."""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Hub:
    """`repos` are files by name, by repository; what is `private` needs the token."""

    repos: dict[str, dict[str, bytes]] = field(default_factory=dict)
    private: set[str] = field(default_factory=set)
    gated: set[str] = field(default_factory=set)
    token: str = "hf_secret"
    spoiled: bool = False
    cut: bool = False
    seen: list[tuple[str, str | None]] = field(default_factory=list)
    address: str = ""


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    """The hub answers, at its `address`."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

        def do_GET(self) -> None:
            asked = unquote(urlsplit(self.path).path).strip("/")
            hub.seen.append((asked, self.headers.get("authorization")))
            repo = next((name for name in hub.repos if name in asked), "")
            known = self.headers.get("authorization") == f"Bearer {hub.token}"
            if repo in hub.gated:
                self._say(403, b"", {"X-Error-Code": "GatedRepo"})
            elif not repo or (repo in hub.private and not known):
                self._say(404, b"", {"X-Error-Code": "RepoNotFound"})
            elif asked.startswith("api/models/"):
                self._say(200, _info(repo, hub.repos[repo]), {"content-type": "application/json"})
            else:
                self._give(hub.repos[repo][asked.split(f"/resolve/{COMMIT}/")[1]])

        def _give(self, data: bytes) -> None:
            sent = bytes([data[0] ^ 1]) + data[1:] if hub.spoiled else data
            if hub.cut:
                self.send_response(200)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(sent[: len(sent) // 2])
                self.close_connection = True
            else:
                self._say(200, sent, {})

        def _say(self, code: int, body: bytes, headers: dict[str, str]) -> None:
            self.send_response(code)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _info(repo: str, files: dict[str, bytes]) -> bytes:
    siblings = [
        {
            "rfilename": name,
            "size": len(data),
            "blobId": "0" * 40,
            "lfs": {
                "sha256": hashlib.sha256(data).hexdigest(),
                "size": len(data),
                "pointerSize": 1,
            },
        }
        for name, data in files.items()
    ]
    return json.dumps({"id": repo, "modelId": repo, "sha": COMMIT, "siblings": siblings}).encode()
