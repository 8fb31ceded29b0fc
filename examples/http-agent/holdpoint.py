"""Asks people through Holdpoint. This file needs only Python's standard library: copy it beside your agent.

    from holdpoint import Agent

    with Agent("Nightly import") as agent:
        answer = agent.approval("Import", {"rows": 300}, title="Import 300 rows?")
        if answer.allowed:
            import_rows(answer.input["rows"])
        else:
            print(answer.reason)
"""

import hashlib
import hmac
import http.client
import ipaddress
import json
import os
import pathlib
import socket
import stat
import threading
import time
import urllib.parse
import uuid

POLL_MS = 30_000
RETRY_SECONDS = 60


class Refused(Exception):
    """The gateway refused a call, for the reason in the message."""


class Answer:
    """What a person decided. Run `input`, not your own variables, because the person may have edited it.

    `reason` and `note` contain the comments of the person. If `question` is not None, the person asks back: answer it with
    `say`, and ask again if you still need to.
    """

    def __init__(self, allowed, input, reason, note, question=None):
        self.allowed = allowed
        self.input = input
        self.reason = reason
        self.note = note
        self.question = question


class Agent:
    """A session of an agent. Inside of `with`, it stays connected, and it ends at the end of the block.

    If your program is killed before the end of the block, the session stays. Keep its `id`, and pass it as `session` to
    continue that session after a restart.
    """

    def __init__(self, title, url=None, token=None, cwd=None, session=None):
        self._gateway = _Gateway(
            url or os.environ.get("HOLDPOINT_URL"),
            token or os.environ.get("HOLDPOINT_TOKEN") or (_data_folder() / "token").read_text().strip(),
        )
        self._untaken = []
        self._stopped = threading.Event()
        start = {"driver": "external", "title": title, "cwd": cwd or os.getcwd()}
        self.id = session or self._call("/sessions", start)["id"]
        attached = self._call(f"/sessions/{self.id}/attach", {})
        self._fence = attached["fence"]
        threading.Thread(target=self._renew, args=(attached["ttlMs"] / 3000,), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.end(None if error is None else str(error))

    def say(self, text):
        """Shows a message to people."""
        self._report_taken()
        item = {"type": "message.added", "block": str(uuid.uuid4()), "text": text}
        self._call(f"/sessions/{self.id}/events", {"fence": self._fence, "items": [item]})

    def approval(self, tool, input, title=None, key=None, **ask):
        """Asks a person to allow a call, and waits for the answer, however long that takes.

        Pass a `key` of your own to find the same request after a restart, in the same session. Other fields of the ask,
        such as `editable=True` or `description="…"`, are listed in the reference of the API.
        """
        ask = {"kind": "approval", "tool": tool, "input": input, **({"title": title} if title else {}), **ask}
        handed = self._ask(ask, key)
        request = handed["request"]
        if request["ask"]["input"] != input:
            raise Refused("The gateway returned another input than the one that was asked. Nothing was run.")
        allowed = handed["outcome"] == "allow"
        answer = (request["resolution"] or {}).get("answer") or {}
        reason = None if allowed else handed.get("reason") or handed["outcome"]
        question = answer.get("reason") if answer.get("askBack") else None
        effective = handed["effective"]["input"] if allowed else None
        return Answer(allowed, effective, reason, handed.get("note"), question)

    def questions(self, questions, key=None):
        """Asks questions in one request. Returns the answers, or None if the person declined or nobody answered."""
        handed = self._ask({"kind": "questions", "questions": questions}, key)
        return handed.get("effective", {}).get("answers")

    def form(self, title, schema, key=None, **ask):
        """Shows a form with the fields of a JSON schema. Returns the values, or None."""
        handed = self._ask({"kind": "form", "title": title, "schema": schema, **ask}, key)
        return handed.get("effective", {}).get("values")

    def end(self, problem=None):
        """Ends the session: as done, or as failed with this problem."""
        self._stopped.set()
        self._report_taken()
        ending = {"reason": "done"} if problem is None else {"reason": "failed", "detail": problem[:2000]}
        self._call(f"/sessions/{self.id}/detach", {"fence": self._fence, "ending": ending})

    def _ask(self, ask, key):
        self._report_taken()
        body = {"fence": self._fence, "key": key or str(uuid.uuid4()), "ask": ask}
        request = self._call(f"/sessions/{self.id}/requests", body)
        while True:
            handed = self._call(f"/requests/{request['id']}/handover", {"fence": self._fence, "wait": POLL_MS})
            if handed["outcome"] != "pending":
                break
        if handed["request"]["id"] != request["id"]:
            raise Refused("The gateway returned another request than the one that was asked. Nothing was run.")
        self._untaken.append(request["id"])
        return handed

    def _report_taken(self):
        """The next call shows that the last answers have arrived."""
        while self._untaken:
            self._call(f"/requests/{self._untaken.pop()}/delivery", {"fence": self._fence, "state": "taken"})

    def _renew(self, seconds):
        """Keeps the session connected while the agent works without calling."""
        while not self._stopped.wait(seconds):
            try:
                self._call(f"/sessions/{self.id}/renew", {"fence": self._fence})
            except (OSError, Refused):
                pass  # the agent's next call reports it

    def _call(self, path, body):
        """Sends a POST request. While the gateway cannot be reached, it is repeated with the same idempotency key."""
        text, key = json.dumps(body), str(uuid.uuid4())
        give_up_at = time.monotonic() + RETRY_SECONDS
        while True:
            try:
                status, reply = self._gateway.post(path, text, key)
                if status < 300:
                    return json.loads(reply)
                if status < 500 or time.monotonic() > give_up_at:
                    raise Refused(_message_of(status, reply))
            except (OSError, http.client.HTTPException):
                if time.monotonic() > give_up_at:
                    raise
            time.sleep(0.2)


class _Gateway:
    """Sends the token only to a gateway that nobody else can stand in for.

    Without a URL, that is the gateway whose Unix socket the data folder names. A gateway at a loopback address must first
    prove that it knows the token, on the same connection, because another program may have taken its port.
    """

    def __init__(self, url, token):
        if url is None and not (_data_folder() / "gateway.json").exists():
            url = "http://127.0.0.1:4747"
        self._url = None if url is None else urllib.parse.urlsplit(url)
        self._token = token
        if self._url is not None and self._url.scheme != "https" and not _is_loopback(self._url.hostname):
            raise Refused(f"With {url}, your token would cross the network unencrypted. Use https://.")

    def post(self, path, text, key):
        connection = self._connect()
        try:
            if self._url is not None and self._url.scheme != "https":
                self._require_proof(connection)
            headers = {"authorization": f"Bearer {self._token}", "idempotency-key": key}
            return _post(connection, self._path(path), text, headers)
        finally:
            connection.close()

    def _path(self, path):
        return ("" if self._url is None else self._url.path.rstrip("/")) + "/api/v1" + path

    def _connect(self):
        timeout = POLL_MS / 1000 + 30
        if self._url is None:
            return _SocketConnection(_socket_of_data_folder(), timeout)
        # Another program may listen on the other loopback address of `localhost`.
        host = "127.0.0.1" if self._url.hostname == "localhost" else self._url.hostname
        kind = http.client.HTTPSConnection if self._url.scheme == "https" else http.client.HTTPConnection
        return kind(host, self._url.port, timeout=timeout)

    def _require_proof(self, connection):
        token_hash = hashlib.sha256(self._token.encode()).hexdigest()
        nonce = os.urandom(16).hex()
        status, reply = _post(connection, self._path("/proof"), json.dumps({"hint": token_hash[:16], "nonce": nonce}), {})
        if status in (401, 421, 429):
            raise Refused(_message_of(status, reply))
        # The token must go to the connection that was proved, not to a new one.
        connection.auto_open = 0
        if status >= 300 or not _is_proved(reply, token_hash, nonce, connection):
            raise Refused("This gateway did not prove that it knows your token, so the token was not sent.")


class _SocketConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self._socket_path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._socket_path)


def _post(connection, path, text, headers):
    connection.request("POST", path, text.encode(), {"content-type": "application/json", **headers})
    with connection.getresponse() as reply:
        return reply.status, reply.read().decode(errors="replace")


def _is_proved(reply, token_hash, nonce, connection):
    try:
        claim = json.loads(reply)
        address = ipaddress.ip_address(claim["address"])
    except (ValueError, KeyError, TypeError):
        return False
    host = f"[{connection.host}]" if ":" in connection.host else connection.host
    port = "" if connection.port == 80 else f":{connection.port}"
    text = "\n".join(["holdpoint proof 1", nonce, host + port, claim["address"]])
    expected = hmac.new(token_hash.encode(), text.encode(), "sha256").hexdigest()
    # In a container, a gateway sees the address of the container instead of the loopback address.
    is_same = not address.is_loopback or address == ipaddress.ip_address(connection.host)
    return is_same and hmac.compare_digest(expected, str(claim.get("proof")))


def _is_loopback(host):
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _message_of(status, text):
    try:
        return json.loads(text)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        return f"HTTP status {status}: {text[:300]}"


def _data_folder():
    return pathlib.Path(os.environ.get("HOLDPOINT_HOME") or pathlib.Path.home() / ".holdpoint")


def _socket_of_data_folder():
    path = json.loads((_data_folder() / "gateway.json").read_text())["socket"]
    folder = os.stat(os.path.dirname(path))
    if folder.st_uid != os.getuid() or folder.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise Refused(f"Other users can change {os.path.dirname(path)}, so the token was not sent.")
    return path
