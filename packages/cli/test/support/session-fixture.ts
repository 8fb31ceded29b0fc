/** A gateway with sessions whose agent is the test itself, and terminals in which a person answers. One gateway serves all tests of a file. */
import type { Ask, Call, Event, Request, Session } from '@holdpoint/protocol'
import { type GatewayProcess, startGateway } from '../../../../test/support/gateway.ts'
import { Terminal, type TerminalOptions } from './terminal.ts'

export class SessionFixture {
  readonly gateway: GatewayProcess
  #keys = 0

  constructor(gateway: GatewayProcess) {
    this.gateway = gateway
  }
  static async open(config: object = {}): Promise<SessionFixture> {
    const inline = Object.keys(config).length > 0
    return new SessionFixture(await startGateway({ runner: inline ? 'inline' : 'none', config }))
  }

  get call(): Call {
    return this.gateway.call
  }
  /** Starts a session whose agent is the test. */
  startSession(title = 'session'): Promise<Session> {
    return this.call('startSession', { driver: 'external', title, cwd: '/srv/app' })
  }
  ask(session: Session, ask: Ask, agentPath: readonly string[] = []): Promise<Request> {
    return this.call('openRequest', { id: session.id, key: `k${++this.#keys}`, ask, agentPath: [...agentPath] })
  }
  async sayAsAgent(session: Session, text: string): Promise<void> {
    await this.call('appendEvents', {
      id: session.id,
      items: [{ type: 'message.added', block: `b${++this.#keys}`, text }],
    })
  }
  /** Ends the turn, so that the session becomes idle. */
  async finishTurn(session: Session): Promise<void> {
    await this.call('appendEvents', { id: session.id, items: [{ type: 'turn.finished', ending: 'done' }] })
  }
  async waitForResolved(request: Request): Promise<Request> {
    for (;;) {
      const current = await this.call('getRequest', { id: request.id, wait: 5000 })
      if (current.status === 'resolved') return current
    }
  }
  async answerTo(request: Request) {
    return (await this.waitForResolved(request)).resolution?.answer
  }
  getRequest(request: Request): Promise<Request> {
    return this.call('getRequest', { id: request.id })
  }
  async listEvents(session: Session): Promise<readonly Event[]> {
    return (await this.call('listEvents', { id: session.id, limit: 500 })).items
  }

  /** Opens `holdpoint run --session` in a terminal. */
  openRun(session: Session, options: TerminalOptions = {}): Terminal {
    return this.openTerminal(['run', '--session', session.id], options)
  }
  openTerminal(args: readonly string[], options: TerminalOptions = {}): Terminal {
    return new Terminal([...args, '--home', this.gateway.home.path], options)
  }
  /** Starts a session with one request and opens the session in a terminal. */
  async openRunWithRequest(ask: Ask, options: TerminalOptions = {}) {
    const session = await this.startSession()
    const request = await this.ask(session, ask)
    return { session, request, terminal: this.openRun(session, options) }
  }
}
