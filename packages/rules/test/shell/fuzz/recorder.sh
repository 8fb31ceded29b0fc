# Evaluates the texts of a batch and records every command that bash runs, instead of running it.
# Usage: bash recorder.sh BATCH LOG MODE [PROGRAM…]. In the batch, each text ends with a NUL byte.
# The named programs are replaced by functions, which is faster; all others are looked up in PATH and not found.
# After a text, a record with no words says whether the shell is still as it was.
. "${BASH_SOURCE%/*}/recorder-functions.sh"

cd() { record cd "$@" && builtin cd "$@"; }
replace() {
  local name
  for name; do eval "function $name { command_not_found_handle $name \"\$@\"; }"; done
}
replace_builtins() {
  replace echo pwd printf test [ type command
  function true { record true "$@"; }
  function false { record false "$@"; return 1; }
}
evaluate() {
  eval "$text"
  builtin printf '%s\0' "$number" "$PATH$x$a$X" "$-" 0 >&9
}

PATH=/nonexistent
x=canary a=canary X=canary
mapfile -d '' -t batch <"$1"
export number flip FUNCTIONS=${BASH_SOURCE%/*}/recorder-functions.sh
exec 6<&0 7>&1 8>&2 9>>"$2"
mode=$3
replace "${@:4}"
[[ $mode == real ]] || replace_builtins
flip=0
[[ $mode == flipped ]] && flip=1
for number in "${!batch[@]}"; do
  text=${batch[number]}
  # Only cd may change the shell. Everything else is evaluated in the same process, where a change would show.
  if [[ $text == *cd* || $mode == real ]]; then (evaluate); else evaluate; fi
done
