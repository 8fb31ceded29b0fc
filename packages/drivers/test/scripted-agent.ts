/** An agent for tests of the session loop. It does exactly what the test tells it. */
import type { Ask, Capability } from '@holdpoint/protocol'
import {
  type AgentConnection,
  type AgentMessage,
  type AgentOutput,
  type AgentProtocol,
  type AnswerEffects,
  type CallAnswer,
  type ConnectionOptions,
  type Driver,
  runSession,
} from '../src/index.ts'
import type { ManualClock } from './runner-fixture.ts'

export const ask = (command: string): Ask => ({
  ...{ kind: 'approval', tool: 'Bash', input: { command } },
  ...{ title: command, cwd: '/', editable: true },
})

/** One process of the agent. */
export class ScriptedConnection implements AgentConnection {
  readonly options: ConnectionOptions
  readonly sent: AgentMessage[] = []
  readonly answers: (CallAnswer & { readonly call: string })[] = []
  readonly log: string[] = []
  effects: AnswerEffects = {}
  parking?: NonNullable<AgentConnection['parking']>
  tell?: NonNullable<AgentConnection['tell']>
  readonly #changed: () => void

  constructor(options: ConnectionOptions, changed: () => void) {
    this.options = options
    this.#changed = changed
    void this.emit({ type: 'ready', conversationId: 'conversation-1' })
  }
  emit(output: AgentOutput): Promise<void> {
    return this.options.emit(output)
  }
  open(id: string, command = id): Promise<void> {
    return this.emit({ type: 'callOpened', call: { id, ask: ask(command) } })
  }
  #record(what: string): void {
    this.log.push(what)
    this.#changed()
  }

  send(message: AgentMessage): void {
    this.sent.push(message)
    this.#record(`send ${message.text}`)
  }
  async answer(call: string, answer: CallAnswer): Promise<AnswerEffects> {
    this.answers.push({ ...answer, call })
    this.#record(`answer ${call} ${answer.kind}`)
    return this.effects
  }
  async interrupt(): Promise<void> {
    this.#record('interrupt')
  }
  async changeSettings({ mode }: { readonly mode?: string }): Promise<void> {
    this.#record(`mode ${mode}`)
    if (mode === 'forbidden') throw new Error('not today')
  }
  async close(reason: string): Promise<void> {
    this.#record(`close ${reason}`)
    await this.emit({ type: 'exited', how: 'Agent was closed' })
  }
}

export class ScriptedAgent {
  readonly connections: ScriptedConnection[] = []
  readonly #waiters = new Set<() => void>()
  readonly driver: Driver

  constructor(protocol: Partial<AgentProtocol> = {}, clock?: ManualClock) {
    const { keepsAfterLoss = 'conversation' } = protocol
    const resumable: readonly Capability[] = keepsAfterLoss === 'nothing' ? [] : ['resumable']
    const connect = (options: ConnectionOptions) => {
      const connection = new ScriptedConnection(options, () => this.#changed())
      this.connections.push(connection)
      this.#changed()
      return connection
    }
    this.driver = {
      info: () => ({
        ...{ name: 'scripted', title: 'Agent', modes: ['plan', 'forbidden'], ready: true },
        capabilities: [...resumable, 'messages', 'interrupt'],
      }),
      run: session =>
        runSession(session, { title: 'Agent', keepsAfterLoss, connect, ...protocol }, clock ? { clock } : {}),
    }
  }

  #changed(): void {
    for (const waiter of this.#waiters) waiter()
  }
  /** Resolves when the agent has done this, in the nth process. */
  async did(what: string, nth = 1, times = 1): Promise<ScriptedConnection> {
    return new Promise(resolve => {
      const check = () => {
        const connection = this.connections[nth - 1]
        if (!connection || connection.log.filter(entry => entry === what).length < times) return
        this.#waiters.delete(check)
        resolve(connection)
      }
      this.#waiters.add(check)
      check()
    })
  }
}
