/** Runs the hooks of a terminal against a real gateway in memory. A test takes the place of the agent. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject, Request } from '@holdpoint/protocol'
import { AgentSession } from '../../client/src/agent/agent-session.ts'
import { answerHook, parseHook } from '../src/terminal/answer-hook.ts'
import { claudeTerminal } from '../src/terminal/claude-hooks.ts'
import type { TerminalAgent } from '../src/terminal/terminal-agent.ts'
import type { TerminalCall } from '../src/terminal/terminal-calls.ts'
import { RunnerFixture } from './runner-fixture.ts'
import { watchMachine } from './watch-machine.ts'

export class TerminalFixture {
  readonly home: string
  readonly gateway: RunnerFixture
  readonly session: AgentSession
  /** What the hooks remember, the newest first. */
  calls: TerminalCall[] = []

  constructor(home: string, gateway: RunnerFixture, session: AgentSession) {
    this.home = home
    this.gateway = gateway
    this.session = session
  }

  /** Opens a gateway that reads the watchers of this file. */
  static async open(file: object = {}): Promise<TerminalFixture> {
    const home = mkdtempSync(join(tmpdir(), 'holdpoint-terminal-hooks-'))
    const watchers = watchMachine(home)
    watchers.write(file)
    const gateway = await RunnerFixture.open({ machine: watchers.machine })
    const session = await gateway.asPerson('startSession', { driver: 'external', cwd: home })
    return new TerminalFixture(home, gateway, new AgentSession({ call: gateway.asPerson, session }))
  }

  /** Runs one hook, and returns what it prints. */
  async hook(input: object, agent: TerminalAgent = claudeTerminal): Promise<JsonObject | null> {
    const event = parseHook(agent, JSON.stringify({ session_id: 'conversation', cwd: this.home, ...input }))
    if (!event) throw new Error('this is not the input of a hook')
    const reply = await answerHook(event, {
      ...{ agent, session: this.session, call: this.gateway.asPerson, onAccepted: () => {}, onFallback: () => {} },
      calls: {
        list: () => this.calls,
        put: call => {
          this.calls = [call, ...this.calls.filter(({ id }) => id !== call.id)]
        },
        remove: id => {
          this.calls = this.calls.filter(call => call.id !== id)
        },
        hasHook: () => true,
      },
      answeredInTerminal: new AbortController().signal,
    })
    return reply && agent.format(reply)
  }

  request(id: string): Promise<Request> {
    return this.gateway.asPerson('getRequest', { id })
  }

  async close(): Promise<void> {
    await this.gateway.close()
    rmSync(this.home, { recursive: true })
  }
}
