/** An agent that a test plays itself, and the person who answers it at a terminal. One gateway serves all tests of a file. */
import type { Ask, Call, Event, Request, Session } from '@holdpoint/protocol'
import { type GatewayProcess, startGateway } from '../../../../test/support/gateway.ts'
import { Terminal, type TerminalOptions } from './terminal.ts'

export class Scene {
  readonly gateway: GatewayProcess
  #keys = 0

  constructor(gateway: GatewayProcess) {
    this.gateway = gateway
  }
  static async open(config: object = {}): Promise<Scene> {
    const inline = Object.keys(config).length > 0
    return new Scene(await startGateway({ runner: inline ? 'inline' : 'none', config }))
  }

  get call(): Call {
    return this.gateway.call
  }
  /** A session whose agent is the test. */
  session(title = 'scene'): Promise<Session> {
    return this.call('startSession', { driver: 'external', title, cwd: '/srv/app' })
  }
  ask(session: Session, ask: Ask, agentPath: readonly string[] = []): Promise<Request> {
    return this.call('openRequest', { id: session.id, key: `k${++this.#keys}`, ask, agentPath: [...agentPath] })
  }
  async says(session: Session, text: string): Promise<void> {
    await this.call('appendEvents', {
      id: session.id,
      items: [{ type: 'message.added', block: `b${++this.#keys}`, text }],
    })
  }
  /** Ends the turn: the session rests. */
  async rests(session: Session): Promise<void> {
    await this.call('appendEvents', { id: session.id, items: [{ type: 'turn.finished', ending: 'done' }] })
  }
  /** As it is once it has been resolved. */
  async resolved(request: Request): Promise<Request> {
    for (;;) {
      const now = await this.call('getRequest', { id: request.id, wait: 5000 })
      if (now.status === 'resolved') return now
    }
  }
  now(request: Request): Promise<Request> {
    return this.call('getRequest', { id: request.id })
  }
  async log(session: Session): Promise<readonly Event[]> {
    return (await this.call('listEvents', { id: session.id, limit: 500 })).items
  }

  run(session: Session, options: TerminalOptions = {}): Terminal {
    return this.terminal(['run', '--session', session.id], options)
  }
  terminal(words: readonly string[], options: TerminalOptions = {}): Terminal {
    return new Terminal([...words, '--home', this.gateway.home.path], options)
  }
  /** A session with one request, and a terminal at which it is put. */
  async put(ask: Ask, options: TerminalOptions = {}) {
    const session = await this.session()
    const request = await this.ask(session, ask)
    return { session, request, terminal: this.run(session, options) }
  }
}
