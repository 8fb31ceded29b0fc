"""Asks people through Holdpoint. This file needs only Python's standard library: copy it beside your agent.

    from holdpoint import Agent

    with Agent("Nightly import") as agent:
        answer = agent.approval("Import", {"rows": 300}, title="Import 300 rows?")
        if answer.allowed:
            import_rows(answer.input["rows"])
        else:
            print(answer.reason)
"""

import json
import os
import pathlib
import threading
import time
import urllib.error
import urllib.request
import uuid

POLL_MS = 30_000
RETRY_SECONDS = 60


class Refused(Exception):
    """The gateway refused a call, for the reason in the message."""


class Answer:
    """What a person decided. Run `input`, not your own variables, because the person may have edited it."""

    def __init__(self, allowed, input, reason, note):
        self.allowed = allowed
        self.input = input
        self.reason = reason
        self.note = note


class Agent:
    """A session of an agent. Inside of `with`, it stays connected, and it ends at the end of the block."""

    def __init__(self, title, url=None, token=None, cwd=None):
        address = url or os.environ.get("HOLDPOINT_URL", "http://127.0.0.1:4747")
        self._url = address.rstrip("/") + "/api/v1"
        self._token = token or os.environ.get("HOLDPOINT_TOKEN") or _token_of_data_folder()
        self._untaken = []
        self._stopped = threading.Event()
        session = {"driver": "external", "title": title, "cwd": cwd or os.getcwd()}
        self.id = self._call("/sessions", session)["id"]
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

        Pass a `key` of your own to find the same request after a restart. Other fields of the ask, such as
        `editable=True` or `description="…"`, are listed in the reference of the API.
        """
        ask = {"kind": "approval", "tool": tool, "input": input, **({"title": title} if title else {}), **ask}
        handed = self._ask(ask, key)
        request = handed["request"]
        if request["ask"]["input"] != input:
            raise Refused("The gateway returned another input than the one that was asked. Nothing was run.")
        allowed = handed["outcome"] == "allow"
        answer = (request["resolution"] or {}).get("answer") or {}
        reason = None if allowed else handed.get("reason") or handed["outcome"]
        return Answer(allowed, handed["effective"]["input"] if allowed else None, reason, answer.get("note"))

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
        headers = {
            "authorization": f"Bearer {self._token}",
            "content-type": "application/json",
            "idempotency-key": str(uuid.uuid4()),
        }
        request = urllib.request.Request(self._url + path, json.dumps(body).encode(), headers)
        give_up_at = time.monotonic() + RETRY_SECONDS
        while True:
            try:
                with urllib.request.urlopen(request, timeout=POLL_MS / 1000 + 30) as reply:
                    return json.load(reply)
            except urllib.error.HTTPError as error:
                if error.code < 500 or time.monotonic() > give_up_at:
                    raise Refused(_message_of(error)) from None
            except OSError:
                if time.monotonic() > give_up_at:
                    raise
            time.sleep(0.2)


def _message_of(error):
    text = error.read().decode(errors="replace")
    try:
        return json.loads(text)["message"]
    except (ValueError, KeyError, TypeError):
        return f"HTTP status {error.code}: {text[:300]}"


def _token_of_data_folder():
    return (pathlib.Path.home() / ".holdpoint/token").read_text().strip()
