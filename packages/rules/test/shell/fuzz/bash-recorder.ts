/** Lets real shells evaluate texts in a separate folder, and returns the commands that they ran. */
import { spawnSync } from 'node:child_process'
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface RecordedCommand {
  readonly argv: readonly string[]
  readonly folder: string
  readonly streams: string
}
export interface RecordedRun {
  readonly commands: readonly RecordedCommand[]
  /** Whether bash evaluated the text to its end, and variables and options of the shell are as before. */
  readonly isUnchanged: boolean
}
/** Returns null if nothing exists at this path, also if a part of the path is a file and not a folder. */
function statsOf(path: string): Stats | null {
  try {
    return statSync(path)
  } catch {
    return null
  }
}

/** `plain` and `flipped` also record builtins; commands that succeed in one fail in the other. `real` runs builtins. */
export type RecorderMode = 'plain' | 'flipped' | 'real'

export interface EvaluationOptions {
  readonly locale: string
  readonly replaced: readonly string[]
}

const script = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const timeoutMs = 300_000

export class BashRecorder {
  readonly #base = realpathSync(mkdtempSync(join(tmpdir(), 'shell-fuzz-')))
  /** The folder in which texts are evaluated. */
  readonly folder = join(this.#base, 'tree/outer/work')
  readonly #programs = join(this.#base, 'programs')
  readonly #known = new Set<string>()
  readonly #files: string

  constructor() {
    mkdirSync(this.#programs)
    for (const folder of ['sub/deep', 'a b', 'bin', 'sub/bin'])
      mkdirSync(join(this.folder, folder), { recursive: true })
    for (const file of ['run', 'bin/tool', 'sub/run']) copyFileSync(script('program.sh'), join(this.folder, file))
    for (const stream of ['in', 'out', 'err']) writeFileSync(this.#path(stream), '')
    this.#files = this.#fileList()
  }
  close(): void {
    rmSync(this.#base, { recursive: true })
  }

  isFolder(path: string): boolean {
    return statsOf(path)?.isDirectory() ?? false
  }
  isProgram(path: string): boolean {
    const found = statsOf(path)
    return found?.isFile() === true && (found.mode & 0o100) !== 0
  }

  /** Evaluates each text in bash and returns what bash ran for each. Throws if a file was written. Functions of the shell replace the programs in `replaced`, because they need no process of their own. */
  evaluate(
    texts: readonly string[],
    mode: RecorderMode,
    { locale, replaced }: EvaluationOptions,
  ): readonly RecordedRun[] {
    writeFileSync(this.#path('batch'), texts.map(text => `${text}\0`).join(''))
    const runs = texts.map(() => ({ commands: [] as RecordedCommand[], isUnchanged: false }))
    const args = [script('recorder.sh'), this.#path('batch'), this.#path('log'), mode, ...replaced]
    for (const { number, argv, folder, streams } of this.#run(args, { LC_ALL: locale })) {
      const run = runs[number]
      if (!run) throw new Error(`bash recorded a text ${number} that it was not given.`)
      if (argv.length > 0) run.commands.push({ folder, streams, argv })
      else run.isUnchanged = folder === '/nonexistentcanarycanarycanary' && streams === 'hB'
    }
    return runs
  }

  /** Runs one text in a new process of a shell, with real programs that record how they are started. */
  execute(shell: string, text: string, names: readonly string[]): readonly RecordedCommand[] {
    for (const name of names) {
      if (name.includes('/') || this.#known.has(name)) continue
      this.#known.add(name)
      symlinkSync(script('program.sh'), join(this.#programs, name))
    }
    const setUp = 'exec 6<&0 7>&1 8>&2 9>>"$1"; export PATH=$PROGRAMS; exec "$2" -c "$3"'
    const env = { PROGRAMS: this.#programs, FUNCTIONS: script('recorder-functions.sh'), number: '0', flip: '0' }
    return this.#run(['-c', setUp, 'bash', this.#path('log'), shell, text], env)
  }

  #path(name: string): string {
    return join(this.#base, name)
  }

  #run(args: readonly string[], env: Record<string, string>): readonly (RecordedCommand & { number: number })[] {
    writeFileSync(this.#path('log'), '')
    const stdio = [openSync(this.#path('in'), 'r'), openSync(this.#path('out'), 'a'), openSync(this.#path('err'), 'a')]
    const { error } = spawnSync('/bin/bash', args, { cwd: this.folder, env, stdio, timeout: timeoutMs })
    for (const descriptor of stdio) closeSync(descriptor)
    if (error) throw error
    if (this.#fileList() !== this.#files) throw new Error(`A shell has written a file in ${this.#base}.`)
    return recordsOf(readFileSync(this.#path('log'), 'utf8'))
  }

  /** The names, sizes and times of change of all files that a text can reach by a relative path. */
  #fileList(): string {
    const files = readdirSync(this.#path('tree'), { recursive: true, encoding: 'utf8' }).sort()
    return files
      .map(file => {
        const { size, mtimeMs } = statSync(join(this.#path('tree'), file))
        return `${file} ${size} ${mtimeMs}`
      })
      .join('\n')
  }
}

function recordsOf(log: string): readonly (RecordedCommand & { number: number })[] {
  const fields = log.split('\0').slice(0, -1)
  const records: (RecordedCommand & { number: number })[] = []
  for (let at = 0; at < fields.length; at += 4 + (records.at(-1)?.argv.length ?? 0)) {
    const [number, folder = '', streams = '', count] = fields.slice(at, at + 4)
    const argv = fields.slice(at + 4, at + 4 + Number(count))
    if (argv.length !== Number(count)) throw new Error(`The log of bash cannot be read: ${fields.slice(at).join(' ')}`)
    records.push({ number: Number(number), folder, streams, argv })
  }
  return records
}
