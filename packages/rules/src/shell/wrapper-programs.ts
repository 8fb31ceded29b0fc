/** Recognizes programs that run other programs, for deny rules and for proposed rules. The options of a wrapper are not interpreted: every word that can start a command counts as the start of one. */

const names = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))

export const shellNames = names(
  'sh bash rbash dash ash zsh ksh rksh mksh yash fish csh tcsh busybox toybox pwsh powershell',
)

/** Programs whose arguments contain a command, as words of their own or as one text. */
const wrappers = names(
  `sudo doas su runuser pkexec env nice ionice chrt taskset nohup setsid stdbuf timeout time command builtin exec eval
  source . trap alias set xargs parallel watch entr ssh mosh rsh sshpass script expect unbuffer flock strace ltrace gdb valgrind perf
  chroot unshare nsenter setpriv capsh firejail bwrap fakeroot proot systemd-run systemd-nspawn start-stop-daemon daemonize
  tmux screen at batch crontab caffeinate arch npx bunx pnpx uvx pipx nodemon concurrently faketime proxychains proxychains4
  torsocks dotenv cross-env dbus-run-session xvfb-run rlwrap tsocks softlimit setarch linux64 linux32 chpst choom prlimit
  numactl time gtime gtimeout noglob nocorrect coproc wsl cmd rtk hyperfine watchexec xterm konsole gosu su-exec tini dumb-init
  dtach abduco cpulimit ccache`,
)
/** Programs that run a command only after a word that the pattern matches. */
const triggers: readonly (readonly [ReadonlySet<string>, RegExp])[] = [
  [names('find gfind'), /^-(?:exec|execdir|ok|okdir)$/],
  [names('fd fdfind'), /^(?:-x|-X|--exec|--exec-batch)$/],
  [names('git'), /^(?:run|foreach|-x|--exec|-c|--config-env|--\w+-filter)$/],
  [names('docker podman nerdctl kubectl oc lxc lxd multipass vagrant'), /^(?:run|exec|ssh|--)$/],
  [names('docker-compose podman-compose'), /^(?:run|exec)$/],
  [names('npm pnpm yarn bun deno'), /^(?:exec|x|dlx|--|-c|--call)$/],
  [
    names('uv poetry pipenv pdm hatch rye conda mamba bundle mise asdf direnv op aws-vault devbox nix nix-shell rbenv'),
    /^(?:run|exec|x|--|-c|--command|--run)$/,
  ],
  [names('make gmake'), /^(?:-E|--eval)$/],
  [names('rsync'), /^(?:-e|--rsh)$/],
  [names('vim vi nvim ex'), /^(?:-c|--cmd|-S)$/],
  [
    names('tar gtar bsdtar'),
    /^(?:-[A-Za-z]*I|-F|--use-compress-program|--to-command|--info-script|--new-volume-script)$/,
  ],
  [names('man'), /^(?:-P|-H|--pager|--html)$/],
]
/** Options of any program whose value is a command. */
const commandOption =
  /^(?:--?(?:to-command|use-compress-program|checkpoint-action|rsh|rsync-path|exec|pager|command|preprocessor|pre|compress-program|eval|run|extcmd|upload-pack|receive-pack|use-askpass|filter)|-o?ProxyCommand|SHELL|-c\s*alias\.\w+)=(?:exec=)?!?(.+)$/is

/** The same options if their value is a word of its own. */
export const commandOptionName =
  /^--?(?:to-command|use-compress-program|checkpoint-action|rsh|rsync-path|exec|pager|command|preprocessor|pre|compress-program|eval|open-files-in-pager|extcmd|upload-pack|receive-pack|use-askpass|filter)$/

/** Programs that run code of their own language, in which a command can be written. */
const interpreters =
  /^(?:python|pypy|perl|ruby|node|nodejs|deno|bun|php|lua|luajit|tclsh|expect|osascript|rscript|julia|swift|[gmn]?awk|jshell|groovy|scala|elixir|erl|ghc|tsx|ts-node|sqlite3|psql|mysql|gdb|emacs|vim|vi|nvim|ex|ed|sed)[\d.]*$/

/** Returns the base name of a program in lower case, because some file systems ignore case, and without the ending that Windows lets people leave out. */
export function programName(word: string): string {
  return word
    .slice(word.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(windowsEnding, '')
}
const windowsEnding = /\.(?:exe|cmd|bat)$/

/** Wrappers that rarely run a command from their arguments, so a rule for exactly these arguments may be proposed. */
const rareWrappers = names('make gmake tar gtar bsdtar rsync man')

/** Returns whether a command can run other programs or code that its arguments name. */
export function canRunOthers(argv: readonly string[]): boolean {
  const name = programName(argv[0] ?? '')
  if (rareWrappers.has(name)) return wrappedFrom(name, argv) !== null || argv.some(word => commandOption.test(word))
  return runsArguments(name) || isInterpreter(name) || triggers.some(([programs]) => programs.has(name))
}

export interface WrappedCommands {
  /** The positions of words at which another command can start. */
  readonly starts: readonly number[]
  /** Texts that can be commands. */
  readonly scripts: readonly string[]
}

export function wrappedCommands(argv: readonly string[]): WrappedCommands {
  const name = programName(argv[0] ?? '')
  const options = argv.flatMap(word => commandOption.exec(word)?.[1] ?? (word.startsWith('!') ? word.slice(1) : []))
  const from = wrappedFrom(name, argv)
  if (from !== null) {
    const starts = Array.from(argv.keys()).filter(index => index >= from && !/^-|^$/.test(argv[index] as string))
    const texts = argv.slice(from).filter(isScript)
    const code = starts.some(index => isInterpreter(programName(argv[index] as string)))
      ? texts.flatMap(codeScripts)
      : []
    return { starts, scripts: [...options, ...texts.flatMap(scriptsOf), ...code] }
  }
  if (isInterpreter(name)) return { starts: [], scripts: [...options, ...argv.slice(1).flatMap(codeScripts)] }
  return { starts: [], scripts: options }
}

/** Returns the position of the first word that can belong to a wrapped command, or null if the program wraps none. */
function wrappedFrom(name: string, argv: readonly string[]): number | null {
  if (runsArguments(name)) return 1
  const trigger = triggers.find(([programs]) => programs.has(name))?.[1]
  const at = trigger ? argv.findIndex((word, index) => index > 0 && trigger.test(word)) : -1
  return at < 0 ? null : at + 1
}

function runsArguments(name: string): boolean {
  return wrappers.has(name) || shellNames.has(name)
}

function isScript(word: string): boolean {
  return /[\s;|&<>`$()]/.test(word)
}
/** Removes the part before the command in --option=command, name=command, alias.x=!command and -Scommand. */
function scriptsOf(word: string): readonly string[] {
  const script = word.replace(/^(?:-{0,2}[\w.-]+=!?|!)/, '')
  return /^-[A-Za-z]/.test(script) ? [script, script.slice(2)] : [script]
}

export function isInterpreter(name: string): boolean {
  return interpreters.test(name)
}
/** Returns the commands that code of another language may run: its strings can be commands, and its words can be the arguments of one. */
export function codeScripts(code: string): readonly string[] {
  if (!/[\s("'`[{!|]/.test(code)) return []
  const strings = [...code.matchAll(/'([^'\n]*)'|"([^"\n]*)"|`([^`]*)`/g)].map(
    found => found[1] ?? found[2] ?? found[3],
  )
  const words = code.replace(/[^\w./@:=+~%-]+/g, ' ')
  // sed runs the result of s/…/command/e.
  const replacement = /^[^a-z]*s\W/.test(code) ? [`exec ${words.replaceAll('/', ' ')}`] : []
  const scripts = [...strings.filter(text => text !== undefined && text.trim() !== ''), `exec ${words}`]
  return [...scripts, ...replacement] as readonly string[] // empty and missing ones are filtered out
}
