"""An HTTP agent that asks before it runs a command, and runs exactly the command that was approved."""

import json
import os
import pathlib
import subprocess
import sys
import urllib.request

URL = os.environ.get("HOLDPOINT_URL", "http://127.0.0.1:4747") + "/api/v1"
TOKEN = os.environ.get("HOLDPOINT_TOKEN") or (pathlib.Path.home() / ".holdpoint/token").read_text().strip()


def call(path, body=None):
    """Calls the gateway with POST if there is a body, otherwise with GET."""
    request = urllib.request.Request(
        URL + path,
        data=None if body is None else json.dumps(body).encode(),
        headers={"authorization": f"Bearer {TOKEN}", "content-type": "application/json"},
    )
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)


def ask(session, key, question):
    """Opens a request and waits for its answer, however long that takes.

    The gateway hands an allow to one caller only, and after a crash it shows that the command may or may not have run.
    """
    request = call(f"/sessions/{session}/requests", {"key": key, "ask": question})
    while True:
        answer = call(f"/requests/{request['id']}/handover", {"wait": 60000})
        if answer["outcome"] != "pending":
            return answer


def main():
    command = sys.argv[1] if len(sys.argv) > 1 else "echo hello from Python"
    session = call("/sessions", {"driver": "external", "title": "Python agent"})["id"]
    question = {
        "kind": "approval",
        "tool": "Bash",
        "title": "Run a command",
        "input": {"command": command},
        "cwd": os.getcwd(),
        "editable": True,
    }
    answer = ask(session, "run-1", question)
    allowed = answer["outcome"] == "allow"
    if allowed:
        subprocess.run(answer["effective"]["input"]["command"], shell=True, check=False)
    else:
        print(f"Not allowed: {answer.get('reason') or answer['outcome']}", file=sys.stderr)
    call(f"/requests/{answer['request']['id']}/delivery", {"state": "taken"})
    call(f"/sessions/{session}/detach", {"ending": {"reason": "done"}})
    return 0 if allowed else 1


sys.exit(main())
