#!/usr/bin/env bash
# An HTTP agent that asks before it runs a command, and runs exactly the command that was approved.
set -euo pipefail
url="${HOLDPOINT_URL:-http://127.0.0.1:4747}/api/v1"
token="${HOLDPOINT_TOKEN:-$(cat ~/.holdpoint/token)}"
command="${1:-echo hello from bash}"

# Calls the gateway with POST if there is a JSON body, otherwise with GET.
api() {
  curl --silent --show-error --fail-with-body "$url$1" -H "authorization: Bearer $token" \
    -H 'content-type: application/json' ${2:+--data "$2"}
}
# Prints one field of the JSON on standard input, or nothing if the field is missing.
field() { node -e 'const v = JSON.parse(require("fs").readFileSync(0))'"$1"'; if (v != null) console.log(v)'; }
# Prints its argument as a JSON string.
json() { node -p 'JSON.stringify(process.argv[1])' "$1"; }

session=$(api /sessions '{"driver": "external", "title": "bash agent"}' | field .id)
ask="{\"kind\": \"approval\", \"tool\": \"Bash\", \"title\": \"Run a command\", \"editable\": true,
  \"cwd\": $(json "$PWD"), \"input\": {\"command\": $(json "$command")}}"
request=$(api "/sessions/$session/requests" "{\"key\": \"run-1\", \"ask\": $ask}" | field .id)

# Wait for the answer and take it over. The gateway hands an allow to one caller only, and after a crash it shows that the command may or may not have run.
outcome=pending
while [ "$outcome" = pending ]; do
  handover=$(api "/requests/$request/handover" '{"wait": 60000}')
  outcome=$(field .outcome <<<"$handover")
done
status=0
if [ "$outcome" = allow ]; then
  bash -c "$(field .effective.input.command <<<"$handover")"
else
  echo "Not allowed: $(field '.reason' <<<"$handover" | grep . || echo "$outcome")" >&2
  status=1
fi
api "/requests/$request/delivery" '{"state": "taken"}' >/dev/null
api "/sessions/$session/detach" '{"ending": {"reason": "done"}}' >/dev/null
exit $status
