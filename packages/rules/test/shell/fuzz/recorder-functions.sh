# Records a command instead of running it. Descriptor 9 is the log; 6, 7 and 8 are the standard streams of the shell.
# A record is: number of the text, folder, standard streams, number of words, words. Each field ends with a NUL byte.

streams() {
  local stream
  found=
  for stream in 0 1 2; do
    if [[ /proc/self/fd/$stream -ef /dev/null ]]; then found+=n
    elif [[ -p /proc/self/fd/$stream ]]; then found+=p
    elif [[ /proc/self/fd/$stream -ef /proc/self/fd/6 ]]; then found+=I
    elif [[ /proc/self/fd/$stream -ef /proc/self/fd/7 ]]; then found+=O
    elif [[ /proc/self/fd/$stream -ef /proc/self/fd/8 ]]; then found+=E
    else found+=x; fi
  done
  [[ -e /proc/self/fd/3 || -e /proc/self/fd/4 || -e /proc/self/fd/5 ]] && found+=x
}
record() {
  local found
  streams
  builtin printf '%s\0' "$number" "$PWD" "$found" "$#" "$@" >&9
}
# PATH has no programs, so bash calls this function in the process that would have become the program.
command_not_found_handle() {
  record "$@"
  return $(((${#1} + $# + flip) % 2))
}
