/** Test fixture for the Claude Code driver: the real Claude Code, a scripted model, an in-memory gateway, and a temporary home folder. */
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
import { type AttachmentFile, type Input, type Request, type SessionId, uploadAttachments } from '@holdpoint/protocol'
import { realPath } from '../../../cli/src/gateway/machine-files.ts'
import { canPark } from '../../src/claude/parking/parking-self-test.ts'
import { type ClaudeLocation, findClaude, loadSdk } from '../../src/claude/setup/sdk.ts'
import { type ClaudeOptions, claudeDriver } from '../../src/index.ts'
import {
  type ManualClock,
  openGatewayInMemory,
  RunnerFixture,
  type RunnerFixtureOptions,
  type RunningRunner,
} from '../runner-fixture.ts'
import { type WatchMachine, watchMachine } from '../watch-machine.ts'
import { claudeEnvironment, type ModelScript, TestModel } from './model.ts'

/** Result of the parking self-test, which runs once per test file because all tests use the same Claude Code. */
let selfTest: Promise<boolean> | undefined
async function runSelfTest(): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-self-test-'))
  return canPark(await loadSdk(locateClaude()), folder).finally(() => rmSync(folder, { recursive: true }))
}
function locateClaude(executable?: string): ClaudeLocation {
  const claude = findClaude({}, executable)
  if ('missing' in claude) throw new Error(claude.missing)
  return claude.found
}

export interface ClaudeFixtureOptions extends RunnerFixtureOptions, Omit<Partial<ClaudeOptions>, 'clock'> {
  /** Marks the parking self-test as already passed, so that the driver can park immediately. */
  readonly knownParkable?: boolean
  /** The owner's token, to be put into a data folder in the home folder. By default, there is no data folder. */
  readonly ownerToken?: string
  /** Files to create in the working folder, by name. */
  readonly files?: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string | undefined>>
  /** The content of the person's own file with watchers. By default, there is no such file. */
  readonly watchers?: object
}

/** Runs the real Claude Code against a scripted model, with a separate home folder and an in-memory gateway. */
export class ClaudeFixture extends RunnerFixture {
  readonly home: string
  readonly cwd: string
  readonly model: TestModel
  readonly watchers: WatchMachine
  readonly #claudeOptions: ClaudeFixtureOptions

  private constructor(
    home: string,
    model: TestModel,
    opened: Awaited<ReturnType<typeof openGatewayInMemory>>,
    watchers: WatchMachine,
    options: ClaudeFixtureOptions,
  ) {
    super(opened)
    this.home = home
    this.cwd = join(home, 'work')
    this.model = model
    this.watchers = watchers
    this.#claudeOptions = options
  }

  static async create(script: ModelScript, options: ClaudeFixtureOptions = {}): Promise<ClaudeFixture> {
    const home = mkdtempSync(join(tmpdir(), 'holdpoint-claude-test-'))
    const cwd = join(home, 'work')
    mkdirSync(cwd)
    for (const [name, text] of Object.entries(options.files ?? {})) writeFileSync(join(cwd, name), text)
    mkdirSync(join(home, 'driver'))
    if (options.knownParkable) {
      selfTest ??= runSelfTest()
      if (!(await selfTest)) throw new Error('this Claude Code failed the parking self-test')
      const { version } = locateClaude(options.executable)
      writeFileSync(join(home, 'driver', 'parkable.json'), JSON.stringify({ version }))
    }
    const model = await TestModel.open(script)
    const dataFolder = { folder: join(home, '.holdpoint'), home, realPath }
    if (options.ownerToken !== undefined) {
      mkdirSync(dataFolder.folder, { mode: 0o700 })
      writeFileSync(join(dataFolder.folder, 'token'), `${options.ownerToken}\n`, { mode: 0o600 })
    }
    const watchers = watchMachine(home)
    if (options.watchers) watchers.write(options.watchers)
    const opened = await openGatewayInMemory({
      ...{ ...options, machine: watchers.machine },
      ...(options.ownerToken !== undefined && { dataFolder }),
    })
    const fixture = new ClaudeFixture(home, model, opened, watchers, options)
    await fixture.subscribe()
    return fixture
  }

  get env() {
    return { ...claudeEnvironment(this.model, this.home), ...this.#claudeOptions.env }
  }

  driver() {
    const {
      clock,
      settings: _,
      knownParkable: __,
      files: ___,
      env: ____,
      ownerToken,
      dataFolder: _____,
      machine: ______,
      watchers: _______,
      ...more
    } = this.#claudeOptions
    const protectedFolder = ownerToken === undefined ? {} : { protectedFolder: join(this.home, '.holdpoint') }
    const folder = join(this.home, 'driver')
    return claudeDriver({
      folder,
      env: this.env,
      settingSources: [],
      ...(clock ? { clock } : {}),
      ...protectedFolder,
      ...more,
    })
  }

  override startRunner(
    drivers: Parameters<RunnerFixture['startRunner']>[0] = [this.driver()],
    options: Parameters<RunnerFixture['startRunner']>[1] = {},
  ): RunningRunner {
    return super.startRunner(drivers, options)
  }

  /** Starts a runner and a session that is never parked, unless the caller sets `parkAfterMs`. */
  async startClaude(more: Omit<Input<'startSession'>, 'driver'> = {}): Promise<SessionId> {
    this.startRunner()
    return this.startSession('claude', { cwd: this.cwd, parkAfterMs: null, ...more })
  }

  async sendFiles(id: SessionId, text: string, files: readonly AttachmentFile[]): Promise<void> {
    const attachments = await uploadAttachments(this.asPerson, id, files)
    await this.asPerson('sendMessage', { id, text, attachments })
  }

  override waitForRequest(key = 'toolu_1', session?: SessionId): Promise<Request> {
    return super.waitForRequest(key, session)
  }
  /** Returns the current state of a request. */
  getRequest(key = 'toolu_1'): Promise<Request> {
    const opened = this.eventsOf('request.opened').find(event => event.value.key === key)
    if (!opened) throw new Error(`no request with key ${key} was opened`)
    return this.asPerson('getRequest', { id: opened.value.id })
  }

  /** Returns the content of a file in the working folder, or null if the file does not exist. */
  readFile(name: string): string | null {
    const path = join(this.cwd, name)
    return existsSync(path) ? readFileSync(path, 'utf8') : null
  }

  /** Returns the process id that the driver recorded for the session, or null if there is no process. */
  pidOf(session: SessionId): number | null {
    const file = join(this.home, 'driver', session, 'process.json')
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).pid : null
  }

  /** Reads a file that the driver stores for a session, as soon as it exists. */
  async readDriverFile(session: SessionId, name: string): Promise<string> {
    const file = join(this.home, 'driver', session, name)
    await waitUntil(() => existsSync(file))
    return readFileSync(file, 'utf8')
  }
  /** Waits until the driver's copy of the main agent's transcript contains the text. Subagents have separate transcripts. */
  async waitForTranscript(session: SessionId, text = 'toolu_1'): Promise<void> {
    const folder = join(this.home, 'driver', session)
    const isMain = (name: string) => name.endsWith('.jsonl') && !name.includes('%2F')
    const contains = (name: string) => isMain(name) && readFileSync(join(folder, name), 'utf8').includes(text)
    await waitUntil(() => readdirSync(folder).some(contains))
  }
  async waitUntilParked(session: SessionId): Promise<void> {
    await this.waitFor(() => this.#lastState(session) === 'parked' || undefined)
  }
  #lastState(session: SessionId): string | undefined {
    return this.events
      .filter(event => event.session === session)
      .flatMap(event => (event.type === 'session.changed' ? [event.value.state] : []))
      .at(-1)
  }

  override async close(): Promise<void> {
    await super.close()
    await this.model.server.close()
    // Retry, because a process that was just killed may still be writing to the folder.
    await waitUntil(() => remove(this.home))
  }
}

function remove(folder: string): boolean {
  try {
    rmSync(folder, { recursive: true, force: true })
    return true
  } catch {
    return false
  }
}

/** Polls until the condition is true. Use this function if no event reports the condition, for example for files and processes. */
export async function waitUntil(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(resolve => setTimeout(resolve, 10))
}

export function isAlive(pid: number | null): boolean {
  try {
    return pid !== null && process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Advances the clock until the promise resolves, so that a test does not need to know when a timer was set. */
export async function advanceUntil(clock: ManualClock, promise: Promise<unknown>): Promise<void> {
  let resolved = false
  void promise.then(() => {
    resolved = true
  })
  while (!resolved) await clock.advance(1000)
}

/** Writes an executable shell script that runs in place of Claude Code. In the script, `$claude` is the path of the real executable. */
export function wrapClaude(script: string): string {
  const require = createRequire(import.meta.url)
  const real = require.resolve(`@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}/claude`)
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-wrapped-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'claude')
  writeFileSync(file, `#!/bin/sh\nclaude='${real}'\n${script}\n`)
  chmodSync(file, 0o755)
  return file
}
/** Simulates a slow host: Claude Code receives its input one second late. */
export const slowClaude = () => wrapClaude('(sleep 1; exec cat) | exec "$claude" "$@"')
