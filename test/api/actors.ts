/** The callers of a gateway in the tests of the whole API: people, agents and runners, each with their own objects. */
import { httpCall } from '@holdpoint/client'
import type { AttachmentId, Call, Command, DriverInfo, Request, Role, RunnerId, SessionId } from '@holdpoint/protocol'
import { approval } from '../../packages/server/test/test-server.ts'

const driver: DriverInfo = {
  name: 'test',
  title: 'Test',
  capabilities: ['resumable', 'messages', 'interrupt', 'attachments'],
  modes: ['plan'],
  ready: true,
}

/** A session, and the fence with which its agent writes. */
export interface ActorSession {
  readonly id: SessionId
  readonly fence?: number
}

export class Actor {
  readonly role: Role
  readonly token: string
  readonly call: Call
  readonly runner: RunnerId | null
  readonly #owner: Call
  #keys = 0

  constructor(role: Role, url: string, token: string, owner: Call | null, runner: RunnerId | null = null) {
    this.role = role
    this.token = token
    this.runner = runner
    this.call = httpCall({ url, token })
    this.#owner = owner ?? this.call
  }

  key(): string {
    this.#keys++
    return `key ${this.#keys}`
  }

  /** Announces the runner. Its sessions from earlier announcements are released. */
  announce(): Promise<{ readonly incarnation: number }> {
    if (!this.runner) throw new Error('only a runner can be announced')
    return this.call('announceRunner', { id: this.runner, name: 'a runner', drivers: [driver] })
  }

  /** Renews the leases of a runner and returns its incarnation. */
  async incarnation(): Promise<number> {
    const { items } = await this.call('listRunners', {})
    const known = items.find(({ id, live, drivers }) => id === this.runner && live && drivers.length > 0)
    if (!known) return (await this.announce()).incarnation
    return (await this.call('renewRunner', { id: known.id, incarnation: known.incarnation })).incarnation
  }

  /** Starts a session to which this actor may write: its own session, or one that this runner drives. */
  async session(): Promise<ActorSession> {
    if (!this.runner) return { id: (await this.call('startSession', { driver: 'external' })).id }
    const { runner } = this
    const incarnation = await this.incarnation()
    const { id } = await this.#owner('startSession', { driver: driver.name })
    return { id, fence: (await this.call('attachSession', { id, runner, incarnation })).fence }
  }

  async request(ask = { ...approval('a'), editable: true }): Promise<{ request: Request; session: ActorSession }> {
    const session = await this.session()
    return { session, request: await this.call('openRequest', { ...session, key: this.key(), ask }) }
  }

  async resolvedRequest(): Promise<{ request: Request; session: ActorSession }> {
    const { request, session } = await this.request()
    const answer = { id: request.id, digest: request.digest, answer: { kind: 'deny' } } as const
    return { session, request: await this.#owner('answerRequest', answer) }
  }

  async command(): Promise<{ command: Command; session: ActorSession }> {
    const session = await this.session()
    return { session, command: await this.#owner('sendMessage', { id: session.id, text: 'hello' }) }
  }

  /** Adds a small file. People add it themselves; for other actors, the owner sends it to their session. */
  async attachment(): Promise<AttachmentId> {
    const { id } = await this.session()
    const isPerson = this.role === 'owner' || this.role === 'person'
    const add = isPerson ? this.call : this.#owner
    const file = await add('addAttachment', { id, type: 'image', mediaType: 'image/png', data: 'AAAA' })
    if (!isPerson) await add('sendMessage', { id, text: '', attachments: [file.id] })
    return file.id
  }

  /** Creates another actor with a credential of its own. Only the owner can do this. */
  async create(url: string, role: Exclude<Role, 'owner'>, name: string): Promise<Actor> {
    const { secret, runner } = await this.call('addToken', { role, name })
    return new Actor(role, url, secret, this.call, runner)
  }
}
