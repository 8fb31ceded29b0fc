#!/bin/bash
# Stands for any program, and records how it was started.
. "$FUNCTIONS"
command_not_found_handle "${0#"$PROGRAMS"/}" "$@"
