"""An HTTP agent that asks before it runs a command, and runs exactly the command that was approved."""

import subprocess
import sys

from holdpoint import Agent

command = sys.argv[1] if len(sys.argv) > 1 else "echo hello from Python"
with Agent("Python agent") as agent:
    answer = agent.approval("Bash", {"command": command}, title="Run a command", key="run-1", editable=True)
    if answer.allowed:
        subprocess.run(answer.input["command"], shell=True, check=False)
    else:
        print(f"Not allowed: {answer.reason}", file=sys.stderr)
sys.exit(0 if answer.allowed else 1)
