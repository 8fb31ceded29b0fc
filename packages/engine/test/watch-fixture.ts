/** The fixture of the tests of watchers: a gateway that reads `holdpoint.rules.json` files from a table, on the memory store or on SQLite. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EventBody, type Input, messageOf, type SessionId } from '@holdpoint/protocol'
import { parseRuleFile } from '@holdpoint/rules'
import { openMemory, openSqlite } from '@holdpoint/store'
import type { GatewayOptions } from '../src/index.ts'
import type { RuleFile, RuleFileReader } from '../src/rule-files.ts'
import { type AttachedAgent, GatewayFixture, runnerId } from './gateway-fixture.ts'
import { ManualClock } from './manual-clock.ts'

export const ownFile = '/home/ada/.holdpoint/holdpoint.rules.json'
export const projectFile = '/srv/holdpoint.rules.json'

/** Files by path, which tests change. */
export class FileTable implements RuleFileReader {
  readonly ownFile = ownFile
  readonly #files = new Map<string, RuleFile>()

  filesFor(folder: string): readonly string[] {
    return folder === '/srv' || folder.startsWith('/srv/') ? [projectFile] : []
  }
  read(file: string): RuleFile {
    return (
      this.#files.get(file) ?? this.#put({ file, folder: folderOf(file), trust: 'new', content: { kind: 'missing' } })
    )
  }
  write(file: string, value: unknown, trust: RuleFile['trust'] = 'trusted'): void {
    this.#put({ file, folder: folderOf(file), trust, content: contentOf(JSON.stringify(value), folderOf(file)) })
  }
  #put(state: RuleFile): RuleFile {
    this.#files.set(state.file, state)
    return state
  }
}

function folderOf(file: string): string | null {
  return file === ownFile ? null : '/srv'
}
function contentOf(text: string, folder: string | null): RuleFile['content'] {
  try {
    return { kind: 'rules', ...parseRuleFile(text, folder) }
  } catch (error) {
    return { kind: 'problem', problem: messageOf(error) }
  }
}

type WatchEvent = Extract<EventBody, { type: 'watch.fired' }>

export class WatchFixture extends GatewayFixture {
  readonly files = new FileTable()
  readonly machine = {
    runner: runnerId(0),
    home: '/home/ada',
    files: { realPath: (path: string) => (path.startsWith('/') ? path : null) },
    ruleFiles: this.files,
  }

  /** Opens a gateway whose person has this file. */
  async withFile(value: unknown, options: Partial<GatewayOptions> = {}): Promise<this> {
    this.files.write(ownFile, value)
    return this.open({ machine: this.machine, ...options })
  }
  /** Starts a session in a folder. */
  agent(input: Partial<Input<'startSession'>> = {}): Promise<AttachedAgent> {
    return this.startAttached('resumable', { cwd: '/srv', ...input })
  }
  check(agent: AttachedAgent, key: string | undefined, command: string, more: Partial<Input<'checkTool'>> = {}) {
    const call = { tool: 'Bash', input: { command }, ...more }
    return this.runner('checkTool', { id: agent.session.id, fence: agent.fence, ...(key ? { key } : {}), ...call })
  }
  moment(agent: AttachedAgent, input: Omit<Input<'reportMoment'>, 'id' | 'fence'>) {
    return this.runner('reportMoment', { id: agent.session.id, fence: agent.fence, ...input })
  }
  async fired(session?: SessionId): Promise<WatchEvent[]> {
    const events = await this.store.events({ after: 0, limit: 100_000, types: ['watch.fired'] })
    return events
      .filter(event => session === undefined || event.session === session)
      .map(({ body }) => body as WatchEvent) // only events of this type were read
  }
  async firedNames(): Promise<string[]> {
    return (await this.fired()).map(({ watcher }) => watcher.name)
  }
  async values(session: SessionId): Promise<Record<string, unknown>> {
    const { items } = await this.person('listVariables', { id: session })
    return Object.fromEntries(items.map(({ name, value }) => [name, value]))
  }
}

export async function openMemoryFixture(): Promise<WatchFixture> {
  const clock = new ManualClock()
  return new WatchFixture(clock, await openMemory({ clock, epoch: 'e1' }))
}

export interface TestStore {
  readonly name: string
  open(clock: ManualClock): Promise<{ readonly fixture: WatchFixture; readonly close: () => Promise<void> }>
}
export const testStores: readonly TestStore[] = [
  {
    name: 'memory',
    open: async clock => ({
      fixture: new WatchFixture(clock, await openMemory({ clock, epoch: 'e1' })),
      close: async () => {},
    }),
  },
  {
    name: 'SQLite',
    open: async clock => {
      const folder = mkdtempSync(join(tmpdir(), 'holdpoint-watchers-'))
      const store = await openSqlite({ file: join(folder, 'holdpoint.db'), clock })
      return {
        fixture: new WatchFixture(clock, store),
        close: async () => {
          await store.close()
          rmSync(folder, { recursive: true, force: true })
        },
      }
    },
  },
]
export { ManualClock }
