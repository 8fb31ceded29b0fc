/** A house for one test: the real Claude Code against a scripted model, a gateway in memory, a folder to work in, nothing of the machine's own. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Input, Request, SessionId } from '@holdpoint/protocol'
import { canPark } from '../../src/claude/parking/parking-self-test.ts'
import { scriptedEnvironment } from '../../src/claude/setup/scripted-model.ts'
import { findClaude, install, type Location } from '../../src/claude/setup/sdk.ts'
import { type ClaudeOptions, claudeDriver } from '../../src/index.ts'
import {
  type EventOf,
  type ManualClock,
  RunnerFixture,
  type RunningRunner,
  type StageOptions,
} from '../runner-fixture.ts'
import { Model, type Play } from './model.ts'

/** Tried once per file of tests: it is the same Claude Code for all of them, however it is started. */
let tried: Promise<boolean> | undefined
async function tryParking(): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-verdict-'))
  return canPark(await install(located()), folder).finally(() => rmSync(folder, { recursive: true }))
}
function located(executable?: string): Location {
  const claude = findClaude({}, executable)
  if ('missing' in claude) throw new Error(claude.missing)
  return claude.found
}

export interface HouseOptions extends StageOptions, Omit<Partial<ClaudeOptions>, 'clock'> {
  /** Parking is to be tried in this test. */
  readonly parks?: boolean
  /** What is in the working folder before. */
  readonly files?: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string | undefined>>
}

export class ClaudeFixture {
  readonly home: string
  readonly cwd: string
  readonly model: Model
  readonly stage: RunnerFixture
  readonly #options: HouseOptions

  private constructor(home: string, model: Model, stage: RunnerFixture, options: HouseOptions) {
    this.home = home
    this.cwd = join(home, 'work')
    this.model = model
    this.stage = stage
    this.#options = options
  }

  static async open(play: Play, options: HouseOptions = {}): Promise<ClaudeFixture> {
    const home = mkdtempSync(join(tmpdir(), 'holdpoint-house-'))
    const cwd = join(home, 'work')
    mkdirSync(cwd)
    for (const [name, text] of Object.entries(options.files ?? {})) writeFileSync(join(cwd, name), text)
    mkdirSync(join(home, 'driver'))
    if (options.parks) {
      tried ??= tryParking()
      if (!(await tried)) throw new Error('this Claude Code failed the self-test')
      const { version } = located(options.executable)
      writeFileSync(join(home, 'driver', 'parkable.json'), JSON.stringify({ version }))
    }
    const model = await Model.open(play)
    return new ClaudeFixture(home, model, await RunnerFixture.open(options), options)
  }

  get env() {
    return { ...scriptedEnvironment(this.model.server.url, this.home), ...this.#options.env }
  }

  driver() {
    const { clock, settings: _, parks: __, files: ___, env: ____, ...more } = this.#options
    const folder = join(this.home, 'driver')
    return claudeDriver({ folder, env: this.env, settingSources: [], ...(clock ? { clock } : {}), ...more })
  }

  run(): RunningRunner {
    return this.stage.run([this.driver()])
  }

  async start(more: Omit<Input<'startSession'>, 'driver'> = {}): Promise<SessionId> {
    this.run()
    return this.stage.start('claude', { cwd: this.cwd, parkAfterMs: null, ...more })
  }

  asked(key = 'toolu_1'): Promise<Request> {
    return this.stage.asked(key)
  }
  over(count = 1): Promise<EventOf<'turn.finished'>> {
    return this.stage.turnOver(count)
  }
  request(key = 'toolu_1'): Promise<Request> {
    const opened = this.stage.log('request.opened').find(event => event.value.key === key)
    if (!opened) throw new Error(`${key} was not asked`)
    return this.stage.person('getRequest', { id: opened.value.id })
  }

  /** What a file of the working folder holds; null where there is none. */
  file(name: string): string | null {
    const path = join(this.cwd, name)
    return existsSync(path) ? readFileSync(path, 'utf8') : null
  }

  /** The process of the session, as it was noted; null where there is none. */
  pid(session: SessionId): number | null {
    const note = join(this.home, 'driver', session, 'process.json')
    return existsSync(note) ? JSON.parse(readFileSync(note, 'utf8')).pid : null
  }

  /** What the driver has noted of a session, once it has. */
  async note(session: SessionId, name: string): Promise<string> {
    const file = join(this.home, 'driver', session, name)
    await eventually(() => existsSync(file))
    return readFileSync(file, 'utf8')
  }
  /** The call is in the transcript that the driver keeps, not only in that of an agent under the agent. */
  async onRecord(session: SessionId, key = 'toolu_1'): Promise<void> {
    const folder = join(this.home, 'driver', session)
    const isMain = (name: string) => name.endsWith('.jsonl') && !name.includes('%2F')
    const holds = (name: string) => isMain(name) && readFileSync(join(folder, name), 'utf8').includes(key)
    await eventually(() => readdirSync(folder).some(holds))
  }
  async parked(session: SessionId): Promise<void> {
    await this.stage.until(() => this.#lastState(session) === 'parked' || undefined)
  }
  #lastState(session: SessionId): string | undefined {
    return this.stage.events
      .filter(event => event.session === session)
      .flatMap(event => (event.type === 'session.changed' ? [event.value.state] : []))
      .at(-1)
  }

  async close(): Promise<void> {
    await this.stage.close()
    await this.model.server.close()
    // What was killed a moment ago may still be writing.
    await eventually(() => removed(this.home))
  }
}

function removed(folder: string): boolean {
  try {
    rmSync(folder, { recursive: true, force: true })
    return true
  } catch {
    return false
  }
}

/** For what no event tells of: files and processes. */
export async function eventually(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(resolve => setTimeout(resolve, 10))
}

export function alive(pid: number | null): boolean {
  try {
    return pid !== null && process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Lets time pass until it has happened: when a timer was set is nobody's business. */
export async function pass(clock: ManualClock, happened: Promise<unknown>): Promise<void> {
  let over = false
  void happened.then(() => {
    over = true
  })
  while (!over) await clock.advance(1000)
}

/** A Claude Code behind a script of the shell; `$claude` is the real one. */
export function claudeBehind(script: string): string {
  const require = createRequire(import.meta.url)
  const real = require.resolve(`@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}/claude`)
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-behind-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'claude')
  writeFileSync(file, `#!/bin/sh\nclaude='${real}'\n${script}\n`)
  chmodSync(file, 0o755)
  return file
}
/** Its input comes late: it has started long before anything that was said to it arrives. */
export const slowClaude = () => claudeBehind('(sleep 1; exec cat) | exec "$claude" "$@"')
