/** Tracks the folder through the `cd` commands of a proven command. */
import { joinPath } from '../paths.ts'
import type { CommandSegment } from './parsed-command.ts'

/** One possible state after the commands so far. */
interface Outcome {
  readonly folder: string
  readonly succeeded: boolean
}

/**
 * Returns for each segment the folders in which it can run. Several folders are possible, because `cd` and any other
 * command can fail. The list is empty if the segment never runs. Like the shell's own `cd`, this resolves `..` without
 * looking at symbolic links.
 */
export function workingFolders(segments: readonly CommandSegment[], start: string): readonly (readonly string[])[] {
  // Without `cd`, every command can run, and only in the first folder.
  if (segments[0]?.operator === null && !segments.some(({ argv }) => argv[0] === 'cd'))
    return segments.map(() => [start])
  let outcomes: readonly Outcome[] = [{ folder: start, succeeded: true }]
  let running: ReadonlySet<string> = new Set()
  return segments.map(({ argv, operator }) => {
    if (operator !== '|') {
      const runs = ({ succeeded }: Outcome) =>
        operator === null || operator === ';' || succeeded === (operator === '&&')
      const skipped = outcomes.filter(outcome => !runs(outcome))
      running = new Set(outcomes.filter(runs).map(({ folder }) => folder))
      const ended = [...running].flatMap(folder => [
        { folder, succeeded: false },
        { folder: argv[0] === 'cd' ? joinPath(folder, argv[1] ?? '.') : folder, succeeded: true },
      ])
      outcomes = distinct([...skipped, ...ended])
    }
    return [...running]
  })
}

function distinct(outcomes: readonly Outcome[]): readonly Outcome[] {
  return [...new Map(outcomes.map(outcome => [`${outcome.succeeded}${outcome.folder}`, outcome])).values()]
}
