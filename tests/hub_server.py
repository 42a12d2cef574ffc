"""A small hub on loopback: one repository, served as the Hugging Face hub serves it, that can break off or lie."""

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

COMMIT = "0123456789abcdef0123456789abcdef01234567"
REPOSITORY = "openai-community/gpt2"
# What who asks had better be told: the hub is a thread of the test, and may be kept waiting.
PATIENT = {"HF_HUB_DOWNLOAD_TIMEOUT": "300", "HF_HUB_ETAG_TIMEOUT": "300"}


class Hub(ThreadingHTTPServer):
    """The files of a folder; `faults` maps a file's name to "cut" or "corrupt", for as long as it stands there."""

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.folder = folder
        self.faults: dict[str, str] = {}
        self.sent: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, body: bool) -> None:
        path = self.path.split("?")[0]
        if path.startswith("/api/models/"):
            return self.describe(path.removeprefix("/api/models/"))
        match = re.fullmatch(rf"/{REPOSITORY}/resolve/[^/]+/(.+)", path)
        file = self.server.folder / match[1] if match else None
        if file is None or not file.is_file():
            return self.missing("EntryNotFound" if match else "RepoNotFound")
        return self.file(file, body)

    def describe(self, path: str) -> None:
        if not path.startswith(REPOSITORY):
            return self.missing("RepoNotFound")
        names = sorted(file.name for file in self.server.folder.iterdir())
        if "/tree/" in path:
            sizes = {name: (self.server.folder / name).stat().st_size for name in names}
            entries = [{"type": "file", "path": name, "oid": "0" * 40, "size": size} for name, size in sizes.items()]
            return self.say(200, json.dumps(entries).encode(), {"Content-Type": "application/json"})
        about = {"id": REPOSITORY, "sha": COMMIT, "private": False, "siblings": [{"rfilename": name} for name in names]}
        return self.say(200, json.dumps(about).encode(), {"Content-Type": "application/json"})

    def file(self, file: Path, body: bool) -> None:
        content = file.read_bytes()
        large = file.suffix == ".safetensors"  # kept by its sha256, as large files are
        name = hashlib.sha256(content).hexdigest() if large else hashlib.sha1(content).hexdigest()
        headers = {"ETag": f'"{name}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
        if large:
            headers |= {"X-Linked-ETag": f'"{name}"', "X-Linked-Size": str(len(content))}
        start = int(re.match(r"bytes=(\d+)-", self.headers.get("Range", "bytes=0-"))[1])
        fault = self.server.faults.get(file.name)
        if fault == "corrupt":
            content = content[:-4] + bytes(255 - byte for byte in content[-4:])
        if body:
            self.server.sent.append(file.name)
        if body and fault == "cut":
            self.send_response(200)
            for key, value in (headers | {"Content-Length": str(len(content))}).items():
                self.send_header(key, value)
            self.end_headers()
            self.wfile.write(content[: len(content) // 2])
            self.close_connection = True
            return None
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        return self.say(206 if start else 200, content[start:], headers, body)

    def missing(self, code: str) -> None:
        self.say(404, b"{}", {"X-Error-Code": code})

    def say(self, status: int, content: bytes, headers: dict[str, str], body: bool = True) -> None:
        self.send_response(status)
        for key, value in ({"Content-Length": str(len(content))} | headers).items():
            self.send_header(key, value)
        self.end_headers()
        if body and self.command == "GET":
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def running_hub(folder: Path) -> Iterator[Hub]:
    hub = Hub(folder)
    thread = threading.Thread(target=hub.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.shutdown()
        hub.server_close()
        thread.join()
