/** Builds files and passes for the tests of watchers. */
import type { VariableValue, WatcherDraft } from '@holdpoint/protocol'
import { parseRuleFile } from '../../src/rule-file.ts'
import type { FileWatcher, Firings, WatchFile, WatchPass } from '../../src/watch/watch-pass.ts'
import { WatcherSet } from '../../src/watch/watcher-set.ts'

export const now = Date.UTC(2026, 0, 5, 12)

/** Returns a file as the gateway stores it after it was read. */
export function watchFile(
  content: { readonly vars?: object; readonly watch?: readonly object[]; readonly use?: readonly unknown[] },
  options: { readonly trusted?: boolean; readonly folder?: string | null; readonly file?: string } = {},
): WatchFile {
  const {
    trusted = true,
    folder = null,
    file = folder === null ? '/data/holdpoint.rules.json' : `${folder}/holdpoint.rules.json`,
  } = options
  const { vars, watchers } = parseRuleFile(JSON.stringify(content), folder)
  return {
    id: `${file} ${trusted}`,
    source: { file, trusted, project: folder !== null },
    version: 1,
    folder,
    vars,
    watchers,
  }
}

export function watcher(draft: Partial<WatcherDraft>): FileWatcher {
  return { name: 'w', on: 'before', do: { deny: 'No.' }, ...draft }
}

export interface PassOptions extends Partial<Omit<WatchPass, 'session' | 'context' | 'values' | 'fired' | 'spent'>> {
  readonly session?: Partial<WatchPass['session']>
  readonly context?: Partial<WatchPass['context']>
  readonly vars?: Readonly<Record<string, VariableValue>>
  readonly fired?: Firings
  readonly spent?: Partial<ReturnType<WatchPass['spent']>>
}

export function watchPass({ session, context, vars = {}, fired, spent, ...pass }: PassOptions = {}): WatchPass {
  const folder = session?.folder ?? '/srv/app'
  return {
    moments: ['before'],
    call: null,
    isQuestion: false,
    risk: null,
    result: null,
    prompt: '',
    localTime: { hour: 12, minute: 0, weekday: 1 },
    recent: [],
    digest: '',
    ...pass,
    session: { driver: 'claude', folder, mode: '', branch: 'main', turn: 1, idleSeconds: 0, agentPath: [], ...session },
    context: {
      driver: session?.driver ?? 'claude',
      session: null,
      runner: null,
      folder,
      agentPath: session?.agentPath ?? [],
      isEditable: true,
      now,
      home: '/home/p',
      files: null,
      builtIn: { protectedFolder: null, cwd: folder },
      isUsedUp: () => false,
      ...context,
    },
    values: () => vars,
    fired: () => fired,
    spent: () => ({ cost: 0, tokens: 0, turns: 0, minutes: 0, ...spent }),
  }
}

export const bash = (command: string, cwd = '/srv/app'): WatchPass['call'] => ({
  tool: 'Bash',
  input: { command },
  cwd,
  action: { shell: command, cwd },
})
export const write = (path: string, cwd = '/srv/app'): WatchPass['call'] => ({
  tool: 'Edit',
  input: { file_path: path },
  cwd,
  action: { write: [path] },
})

/** Evaluates one file that a person has trusted. */
export function evaluate(content: Parameters<typeof watchFile>[0], pass: PassOptions = {}) {
  return new WatcherSet([watchFile(content)]).evaluate(watchPass(pass))
}
