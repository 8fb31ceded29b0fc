/** Measures with the real Claude Code in a person's own terminal what watchers see and do through the hooks of `holdpoint hook install`, for the table in docs/watchers.md. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Event, EventType, Request, RequestId, SessionId } from '@holdpoint/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { keys, type Terminal } from '../../../packages/cli/test/support/terminal.ts'
import { otherWatchOutcomes } from '../../../packages/drivers/test/conformance/declarations.ts'
import {
  type WatchedAgent,
  type WatchScenarioName,
  watchScenarios,
} from '../../../packages/drivers/test/conformance/watch-scenarios.ts'
import type { EventOf } from '../../../packages/drivers/test/runner-fixture.ts'
import { EventRecorder } from '../../support/event-recorder.ts'
import { closeGateways } from '../../support/gateway.ts'
import { OwnTerminal } from '../own-terminal.ts'

const column = '`holdpoint hook`, Claude Code'
/** The folder in which `npm run test:agents` collects what was measured. */
const resultsFolder = process.env.HOLDPOINT_AGENT_RESULTS

/** One session of Claude Code in a terminal. */
class TerminalSession implements WatchedAgent {
  readonly goesOnInTurn = true
  readonly watchers: WatchedAgent['watchers']
  readonly model: WatchedAgent['model']
  readonly asPerson: WatchedAgent['asPerson']
  readonly #own: OwnTerminal
  readonly #recorder: EventRecorder
  readonly #callsBefore: number
  #terminal: Terminal | null = null

  private constructor(own: OwnTerminal, recorder: EventRecorder) {
    this.#own = own
    this.#recorder = recorder
    this.#callsBefore = own.model.calls.length
    this.model = own.model
    this.asPerson = own.gateway.call
    this.watchers = { write: content => writeFileSync(own.gateway.home.rulesFile, JSON.stringify(content)) }
  }
  static async open(own: OwnTerminal): Promise<TerminalSession> {
    return new TerminalSession(own, await EventRecorder.connect(own.gateway.url, own.gateway.token))
  }

  async start(prompt: string): Promise<SessionId> {
    this.#terminal = this.#own.open(['--permission-mode', 'default'])
    await this.#terminal.waitFor('manual mode on')
    await this.#type(prompt)
    return (await this.#waitForEvent('session.opened')).value.id
  }
  send(_: SessionId, text: string): Promise<void> {
    return this.#type(text)
  }
  async #type(text: string): Promise<void> {
    this.#terminal?.press(text)
    await this.#terminal?.waitFor(text)
    await this.#terminal?.pause()
    this.#terminal?.press(keys.enter)
  }
  async refusal(): Promise<string> {
    return (await this.#waitForEvent('error.raised')).message
  }
  turnEnd(nth = 1): Promise<EventOf<'turn.finished'>> {
    return this.#waitForEvent('turn.finished', nth)
  }
  async #waitForEvent<T extends EventType>(type: T, nth = 1): Promise<EventOf<T>> {
    let left = nth
    return this.#recorder.waitFor((event): event is EventOf<T> => event.type === type && --left === 0)
  }

  hasRead(text: string): boolean {
    const json = JSON.stringify(text).slice(1, -1)
    return this.#own.model.calls.slice(this.#callsBefore).some(({ body }) => body.includes(json))
  }
  readFile(name: string): string | null {
    return this.#own.readFile(name)
  }
  writeFile(name: string, text: string): void {
    writeFileSync(join(this.#own.cwd, name), text)
  }
  eventsOf<T extends EventType>(type: T): EventOf<T>[] {
    return this.#recorder.events.filter((event): event is EventOf<T> => event.type === type)
  }
  agentTexts(): string[] {
    const blocks = new Map<string, string>()
    for (const event of this.eventsOf('message.added')) blocks.set(event.block, event.text)
    return [...blocks.values()]
  }
  answerAll(choose: Parameters<WatchedAgent['answerAll']>[0]): () => void {
    let hasStopped = false
    const answered = new Set<RequestId>()
    const isNew = (event: Event): event is EventOf<'request.opened'> =>
      event.type === 'request.opened' && !answered.has(event.value.id)
    const answerNext = async (): Promise<void> => {
      const { value } = await this.#recorder.waitFor(isNew)
      if (hasStopped) return
      answered.add(value.id)
      await this.#answer(value, choose)
      await answerNext()
    }
    answerNext().catch(() => {}) // the terminal then waits, and the test fails
    return () => {
      hasStopped = true
    }
  }
  async #answer(request: Request, choose: Parameters<WatchedAgent['answerAll']>[0]): Promise<void> {
    await this.#own.answer(request, choose(request))
  }

  async close(): Promise<void> {
    this.#own.closeAgent()
    await this.#recorder.close()
  }
}

describe('Claude Code in a person’s own terminal and watchers', () => {
  const outcomes = otherWatchOutcomes[column]
  const measured: Record<string, string> = {}
  let own: OwnTerminal
  let agent: TerminalSession
  beforeAll(async () => {
    own = await OwnTerminal.start('claude')
    own.skipWelcomeOfClaude()
    expect((await own.hook('install')).code).toBe(0)
  })
  beforeEach(async () => {
    agent = await TerminalSession.open(own)
  })
  afterEach(() => agent.close())
  afterAll(async () => {
    await own.close()
    await closeGateways()
    if (resultsFolder === undefined) return
    mkdirSync(resultsFolder, { recursive: true })
    writeFileSync(join(resultsFolder, `${column}.json`), JSON.stringify(measured))
  })

  it.each(Object.keys(watchScenarios) as WatchScenarioName[])(
    // these are the names of the scenarios
    'the table of docs/watchers.md has the outcome that was measured with the hooks of Claude Code: %s',
    async name => {
      const [title, measure] = watchScenarios[name]
      measured[title] = await measure({ agent, has: () => true })
      expect(measured[title]).toBe(outcomes?.[name])
    },
  )
})
