/** Keeps the password of a database URL that was passed as an argument out of the list of processes, because every user of the machine can read that list. */

const passwordInUrl = /^(--store=)?(postgres(?:ql)?:\/\/[^:@/]*):[^@]*@/

export function hasPassword(word: string): boolean {
  return passwordInUrl.test(word)
}

/** Replaces the arguments that the system shows for this process. Another user may have read them before. */
export function hidePassword(argv: readonly string[], report: (message: string) => void): void {
  if (!argv.some(word => passwordInUrl.test(word))) return
  process.title = argv.map(word => word.replace(passwordInUrl, '$1$2:…@')).join(' ')
  report(
    'Other users of this machine can see the password in --store while the program starts. Set HOLDPOINT_STORE instead, or put the store into holdpoint.config.json in the data folder.',
  )
}

export interface ChildArguments {
  readonly words: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

/** Moves a --store with a password from the arguments of a child process to its environment. */
export function movePasswordToEnvironment({ words, env }: ChildArguments): ChildArguments {
  const at = words.findIndex(word => passwordInUrl.test(word))
  const word = words[at]
  if (word === undefined) return { words, env }
  const flagAt = word.startsWith('--store=') ? at : at - 1
  const rest = words.filter((_, i) => i !== at && i !== flagAt)
  return { words: rest, env: { ...env, HOLDPOINT_STORE: word.replace(/^--store=/, '') } }
}
