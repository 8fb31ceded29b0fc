/** Starts, in this process, a gateway whose stored state tests can compare, with two callers of each role. */
import { tmpdir } from 'node:os'
import { type Change, openGateway, type Store, type Table, tables, type Writes } from '@holdpoint/engine'
import { createServer, type Server } from '@holdpoint/server'
import { openMemory } from '@holdpoint/store'
import { Actor } from './actors.ts'
import type { ApiActors } from './valid-inputs.ts'

export interface CommittedWrites extends Writes {
  readonly label: string
}
export interface ApiServer {
  readonly url: string
  readonly port: number
  readonly server: Server
  readonly actors: ApiActors
  /** Other callers with the same roles, who share no objects with the actors. */
  readonly others: Omit<ApiActors, 'owner' | 'folder'>
  readonly bugs: string[]
  /** Returns everything that is stored, except for what every call may change: the entries about refused attempts and the time of the last use of a token. */
  state(): Promise<string>
  /** Returns what was committed since the last call. */
  takeWrites(): CommittedWrites[]
  close(): Promise<void>
}

export async function openApiServer(): Promise<ApiServer> {
  const committed: CommittedWrites[] = []
  const memory = await openMemory()
  const store = recordingStore(memory, committed)
  // On a busy machine a test takes long, and an expired lease would change the stored state.
  const gateway = await openGateway({ store, settings: { runnerTtlMs: 3_600_000, agentTtlMs: 3_600_000 } })
  await gateway.ensureToken('secret-of-the-owner', 'owner', 'ada')
  const bugs: string[] = []
  const server = createServer({
    gateway,
    version: '1.2.3',
    log: line => {
      if ('bug' in line) bugs.push(line.error)
    },
  })
  const { url, port, close } = await server.listen({ port: 0 })
  const owner = new Actor('owner', url, 'secret-of-the-owner', null)
  const everyone = async (name: string) => ({
    person: await owner.create(url, 'person', `person ${name}`),
    runner: await owner.create(url, 'runner', `runner ${name}`),
    agent: await owner.create(url, 'agent', `agent ${name}`),
  })
  return {
    url,
    port,
    server,
    bugs,
    actors: { owner, ...(await everyone('one')), folder: tmpdir() },
    others: await everyone('two'),
    state: () => stateOf(memory),
    takeWrites: () => committed.splice(0),
    async close() {
      await close()
      await gateway.close()
    },
  }
}

/** Returns a store that notes what every commit has written. */
function recordingStore(store: Store, committed: CommittedWrites[]): Store {
  const commit = async <T>(change: Change<T>): Promise<T> => {
    let writes: Writes = {}
    const result = await store.commit({
      ...change,
      decide: view => {
        const decided = change.decide(view)
        writes = decided
        return decided
      },
    })
    const { puts = [], deletes = [], events = [], purge } = writes
    if (puts.length + deletes.length + events.length > 0 || purge) committed.push({ label: change.label, ...writes })
    return result
  }
  return new Proxy(store, {
    get: (target, name) => {
      if (name === 'commit') return commit
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

async function stateOf(store: Store): Promise<string> {
  const names = Object.keys(tables).filter(name => name !== 'idempotency') as Table[] // the keys are the names of the tables
  const rows = await Promise.all(names.map(name => store.find(name, {})))
  const events = await store.events({ after: 0, limit: 1_000_000 })
  const kept = events.filter(({ type }) => type !== 'attempt.refused').map(({ text }) => text)
  return JSON.stringify([rows, kept], (key, value: unknown) => (key === 'lastUsedAt' ? undefined : value))
}
