/** Decides which first words of a simple command are certain to start a program, or a builtin of the shell that changes nothing. */

/** A name without any character that a shell could expand. A name that starts with a dash or a percent sign means something else in some shells. */
const programName = /^(?=.*[A-Za-z0-9])[\w./][\w./+-]*$/

/** A path that can only name a folder, which no shell runs. */
const folderName = /\/\.{0,2}$/

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))

/** Reserved words of bash, zsh and ksh. */
const reservedWords = words(
  'if then else elif fi case esac for foreach select while until repeat do done in function time coproc end namespace nocorrect noglob always',
)
/** Builtins of bash, dash, zsh and ksh that evaluate text, change the shell, or depend on its state. A program of the same name is never started. */
const builtins = words(
  `. alias autoload bg bind bindkey break builtin bye caller cd chdir command compadd comparguments compcall compctl
  compdescribe compfiles compgen compgroups complete compopt compound compquote compset comptags comptry compvalues continue
  declare dirs disable disown echotc echoti emulate enable enum eval exec exit export fc fg float functions getln
  getopts global hash help hist history integer jobs kill let limit local logout mapfile nameref newgrp popd print printf
  private pushd pushln r read readarray readonly redirect rehash return sched set setopt shift shopt source stop suspend test times
  trap ttyctl type typeset ulimit umask unalias unfunction unhash unlimit unset unsetopt vared wait whence zcompile
  zformat zftp zle zmodload zparseopts zprof zpty zregexparse zsocket zstyle ztcp`,
)
/** Some shells evaluate subscripts in the arguments of `test`, and arithmetic beside a numeric operator. */
const plainOperand = /^[\w ./:@%+,=!-]*$/
const numericOperator = /^-(?:eq|ne|lt|le|gt|ge|t)$/
const plainNumber = /^(?:-?\d+|!|-[a-z]{1,2})$/
/** Conversions and escapes that only print. `%n` sets a variable, and zsh evaluates the arguments of numeric conversions. */
const printedFormat = /^(?!-)(?:[^%\\]|%[%sb]|\\[nrt\\])*$/

/** The builtins that may run, each with the arguments for which it neither evaluates text nor changes the shell. */
const harmless: Readonly<Record<string, (args: readonly string[]) => boolean>> = {
  // POSIX leaves open what a path that starts with exactly two slashes means.
  cd: ([path = '', ...rest]) => rest.length === 0 && /^(?!\/\/(?!\/))[^-+]/.test(path),
  command: ([option, ...names]) => (option === '-v' || option === '-V') && names.every(name => programName.test(name)),
  printf: ([format = '']) => printedFormat.test(format),
  test: args => args.every(arg => (args.some(isNumericOperator) ? plainNumber : plainOperand).test(arg)),
  type: args => args.every(arg => /^-[aptP]+$/.test(arg) || programName.test(arg)),
}

function isNumericOperator(word: string): boolean {
  return numericOperator.test(word)
}

/** Returns why it is not certain what a simple command runs, or null if it is certain. */
export function commandProblem(argv: readonly string[]): string | null {
  const [name = '', ...args] = argv
  if (name === '[')
    return args.at(-1) === ']' && harmless.test?.(args.slice(0, -1))
      ? null
      : 'The shell may evaluate the arguments of [.'
  if (/^\w+\+?=/.test(name)) return 'The command assigns a variable.'
  if (!programName.test(name)) return 'The name of the program is not plain text.'
  if (folderName.test(name)) return 'The name of the program is that of a folder.'
  // Some file systems ignore case. There, a name such as EVAL can start a program that runs the builtin.
  const folded = name.toLowerCase()
  if (reservedWords.has(folded)) return `The word ${name} is a reserved word of the shell.`
  if (!builtins.has(folded)) return null
  if (Object.hasOwn(harmless, name) && harmless[name]?.(args)) return null
  return name === 'cd'
    ? 'The command changes to a folder that is not named exactly.'
    : `The shell's own command ${name} can change what runs.`
}
