/** The result of `parseCommand`, and the limits within which a command can be proven. */

/** A redirect that neither reads nor writes a file. */
export type NullRedirect = '>/dev/null' | '2>/dev/null' | '2>&1' | '>&2' | '</dev/null'

/** The operator before a simple command; null before the first one. */
export type CommandOperator = '&&' | '||' | ';' | '|'

/** One simple command: a program or a harmless builtin of the shell, with its words exactly as the shell passes them on. */
export interface CommandSegment {
  /** Never empty. The path of `cd` starts with `/`, `.` or `..`, so that CDPATH has no effect. */
  readonly argv: readonly string[]
  readonly operator: CommandOperator | null
  /** The redirects in the order in which the shell applies them. */
  readonly redirects: readonly NullRedirect[]
}

export interface ProvenCommand {
  readonly provable: true
  readonly segments: readonly CommandSegment[]
}
export interface UnprovenCommand {
  readonly provable: false
  /** One sentence for people. */
  readonly reason: string
}
/** A command is provable if it is certain which simple commands a shell runs for it. */
export type ParsedCommand = ProvenCommand | UnprovenCommand

export const provableLimits = {
  characters: 8192,
  segments: 50,
  words: 1000,
  /** Each `cd` that may fail doubles the number of folders in which the rest can run. */
  folderChanges: 4,
} as const

export function unproven(reason: string): UnprovenCommand {
  return { provable: false, reason }
}
