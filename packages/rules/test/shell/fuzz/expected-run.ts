/** Works out from a proven command what bash has to run: which commands, in which folder and with which standard streams. */
import { join } from 'node:path'
import type { CommandSegment } from '../../../src/index.ts'

export interface ExpectedCommand {
  readonly argv: readonly string[]
  readonly folder: string
  /** The standard input, output and error: I, O and E are those of the shell, n is /dev/null, p is a pipe. */
  readonly streams: string
  readonly segment: number
}
export interface RunConditions {
  readonly folder: string
  readonly isFolder: (path: string) => boolean
  readonly isProgram: (path: string) => boolean
  /** The exit status of a command other than `cd`. */
  readonly status: (argv: readonly string[]) => number
}

/** Returns the pipelines that run, in order. */
export function expectedRun(
  segments: readonly CommandSegment[],
  conditions: RunConditions,
): readonly (readonly ExpectedCommand[])[] {
  const run: (readonly ExpectedCommand[])[] = []
  let { folder } = conditions
  let status = 0
  for (let start = 0; start < segments.length; ) {
    let end = start + 1
    while (segments[end]?.operator === '|') end++
    const operator = segments[start]?.operator
    if (operator === null || operator === ';' || (operator === '&&') === (status === 0)) {
      const commands = segments.slice(start, end).map((segment, index) => ({
        argv: segment.argv,
        folder,
        streams: streamsOf(segment, segments[start + index + 1]),
        segment: start + index,
      }))
      run.push(commands.filter(({ argv }) => starts(argv, folder, conditions)))
      const last = commands.at(-1)?.argv ?? []
      if (last[0] !== 'cd') status = starts(last, folder, conditions) ? conditions.status(last) : 127
      else {
        const path = last[1]?.startsWith('/') ? last[1] : `${folder}/${last[1]}`
        // `join` removes the name before `..`, but bash requires that it is a folder.
        status = conditions.isFolder(path) ? 0 : 1
        if (status === 0) folder = join(path, '.')
      }
    }
    start = end
  }
  return run
}

/** A name with a slash is a path. All other programs exist. */
function starts([name = '']: readonly string[], folder: string, { isProgram }: RunConditions): boolean {
  return !name.includes('/') || isProgram(name.startsWith('/') ? name : join(folder, name))
}

function streamsOf({ operator, redirects }: CommandSegment, next: CommandSegment | undefined): string {
  let [input, output, error] = [operator === '|' ? 'p' : 'I', next?.operator === '|' ? 'p' : 'O', 'E']
  for (const redirect of redirects)
    if (redirect === '>/dev/null') output = 'n'
    else if (redirect === '2>/dev/null') error = 'n'
    else if (redirect === '2>&1') error = output
    else if (redirect === '>&2') output = error
    else input = 'n'
  return `${input}${output}${error}`
}
