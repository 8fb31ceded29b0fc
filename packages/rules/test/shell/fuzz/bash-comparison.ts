/** Compares what `parseCommand` says about texts with what real shells do. */
import { type CommandSegment, canonicalCommand, parseCommand, workingFolders } from '../../../src/index.ts'
import type { BashRecorder, EvaluationOptions, RecordedCommand, RecorderMode } from './bash-recorder.ts'
import { type ExpectedCommand, expectedRun } from './expected-run.ts'

export interface ProvenText {
  readonly text: string
  readonly segments: readonly CommandSegment[]
}
export interface Mismatch {
  readonly text: string
  readonly problem: string
}

const builtins: ReadonlySet<string> = new Set('echo pwd true false printf test [ type command'.split(' '))
/** Builtins whose exit status does not depend on anything. */
const certainStatus: ReadonlyMap<string, number> = new Map([
  ['echo', 0],
  ['true', 0],
  ['false', 1],
])
const isUncertain = ({ argv }: CommandSegment) => isBuiltin(argv) && !certainStatus.has(argv[0] ?? '')

export function isBuiltin([name = '']: readonly string[]): boolean {
  return builtins.has(name)
}

export class BashComparison {
  readonly #recorder: BashRecorder
  constructor(recorder: BashRecorder) {
    this.#recorder = recorder
  }

  /** Evaluates all texts in bash: every command that runs must be the expected one, in its folder and with its streams. */
  evaluate(texts: readonly ProvenText[], options: EvaluationOptions): readonly Mismatch[] {
    const hasCondition = ({ segments }: ProvenText) =>
      segments.some(({ operator }) => operator === '&&' || operator === '||')
    const hasBuiltin = ({ segments }: ProvenText) => segments.some(({ argv }) => isBuiltin(argv))
    return [
      ...this.#evaluate(texts, 'plain', options),
      ...this.#evaluate(texts.filter(hasCondition), 'flipped', options),
      ...this.#evaluate(texts.filter(hasBuiltin), 'real', options),
    ]
  }

  #evaluate(texts: readonly ProvenText[], mode: RecorderMode, options: EvaluationOptions): readonly Mismatch[] {
    if (texts.length === 0) return []
    const runs = this.#recorder.evaluate(
      texts.map(({ text }) => text),
      mode,
      options,
    )
    return texts.flatMap(({ text, segments }, index) => {
      const run = runs[index]
      const problem = !run?.isUnchanged
        ? 'bash did not finish or was changed'
        : mode === 'real'
          ? this.#surplus(segments, run.commands)
          : this.#difference(
              this.#expected(segments, argv => recordedStatus(argv, mode)),
              segments,
              run.commands,
            )
      return problem === null ? [] : [{ text, problem: `${mode}: ${problem}` }]
    })
  }

  /** Runs the text in a new bash, and its canonical form in a new bash and in sh, with real programs on the path. */
  execute({ text, segments }: ProvenText): readonly Mismatch[] {
    if (segments.some(isUncertain)) return []
    const names = segments.map(({ argv }) => argv[0] ?? '').filter(name => !isBuiltin([name]) && name !== 'cd')
    const status = (argv: readonly string[]) => certainStatus.get(argv[0] ?? '') ?? recordedStatus(argv, 'plain')
    const expected = this.#expected(segments, status).map(pipeline =>
      pipeline.filter(({ argv }) => !isBuiltin(argv) && argv[0] !== 'cd'),
    )
    const canonical = canonicalCommand(segments)
    const parsed = parseCommand(canonical)
    const isSame = parsed.provable && JSON.stringify(parsed.segments) === JSON.stringify(segments)
    const runs = [
      ['/bin/bash', text],
      ['/bin/bash', canonical],
      ['/bin/sh', canonical],
    ] as const
    return [
      ...(isSame ? [] : [{ text, problem: `the canonical form is read differently: ${canonical}` }]),
      ...runs.flatMap(([shell, command]) => {
        const problem = this.#difference(expected, segments, this.#recorder.execute(shell, command, names))
        return problem === null ? [] : [{ text, problem: `${shell} -c ${command}: ${problem}` }]
      }),
    ]
  }

  #expected(segments: readonly CommandSegment[], status: (argv: readonly string[]) => number) {
    const { folder } = this.#recorder
    const isFolder = (path: string) => this.#recorder.isFolder(path)
    const isProgram = (path: string) => this.#recorder.isProgram(path)
    return expectedRun(segments, { folder, isFolder, isProgram, status })
  }

  #difference(
    expected: readonly (readonly ExpectedCommand[])[],
    segments: readonly CommandSegment[],
    recorded: readonly RecordedCommand[],
  ): string | null {
    const folders = workingFolders(segments, this.#recorder.folder)
    let at = 0
    for (const pipeline of expected) {
      const outside = pipeline.find(({ folder, segment }) => !folders[segment]?.includes(folder))
      if (outside) return `${describe(outside)} runs in a folder that workingFolders does not name`
      // The commands of a pipeline start at the same time.
      const wanted = pipeline.map(describe).sort().join('\n')
      const found = recorded
        .slice(at, at + pipeline.length)
        .map(describe)
        .sort()
        .join('\n')
      if (wanted !== found) return `expected\n${wanted}\nbut bash ran\n${found}`
      at += pipeline.length
    }
    return at === recorded.length ? null : `bash also ran ${recorded.slice(at).map(describe).join('\n')}`
  }

  /** Finds a command that is not one of the segments, for runs in which nothing is known about the exit status of builtins. */
  #surplus(segments: readonly CommandSegment[], recorded: readonly RecordedCommand[]): string | null {
    const folders = workingFolders(segments, this.#recorder.folder)
    const left = segments.map(({ argv }, index) => ({ words: wordsOf(argv), folders: folders[index] ?? [] }))
    for (const command of recorded) {
      const words = wordsOf(command.argv)
      const at = left.findIndex(segment => segment.words === words && segment.folders.includes(command.folder))
      if (at < 0) return `bash ran ${describe(command)}`
      left.splice(at, 1)
    }
    return null
  }
}

/** The exit status that the recorder gives to a command. */
function recordedStatus(argv: readonly string[], mode: RecorderMode): number {
  const [name = ''] = argv
  if (name === 'true' || name === 'false') return name === 'true' ? 0 : 1
  return (name.length + argv.length + (mode === 'flipped' ? 1 : 0)) % 2
}

function describe({ argv, folder, streams }: RecordedCommand): string {
  return `${wordsOf(argv)} in ${folder} with ${streams}`
}
/** `parseCommand` reads `cd sub` as `cd ./sub`, which is the same without CDPATH. */
function wordsOf(argv: readonly string[]): string {
  return JSON.stringify(argv[0] === 'cd' ? ['cd', argv[1]?.replace(/^\.\//, '')] : argv)
}
