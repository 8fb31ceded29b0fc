/** For each ready-made watcher, the moment at which it acts. Nothing is reported of the session before, except what the watcher counts: the start and the messages are missed. */
import type { Call, Input, SessionId } from '@holdpoint/protocol'

/** A session with an agent, and how its agent and people call the gateway. */
export interface UsedSession {
  readonly id: SessionId
  readonly fence: number
  readonly agent: Call
  readonly person: Call
}

type Acting = { readonly [K in 'checkTool' | 'reportMoment' | 'appendEvents']: readonly [K, Input<K>] }[
  | 'checkTool'
  | 'reportMoment'
  | 'appendEvents']

export interface ReadyMadeUse {
  readonly name: string
  /** The entry of the file. Without it, the name is enough. */
  readonly entry?: () => object
  /** What happens before. */
  readonly prepare?: (session: UsedSession) => Promise<unknown>
  /** The call at which the watcher acts. */
  readonly acts: (session: UsedSession) => Acting
  /** A part of the text that the agent or a person gets from the watcher. */
  readonly effect: string
}

const own = ({ id, fence }: UsedSession) => ({ id, fence })
const bash = (session: UsedSession, command: string, key = 'acting'): Acting => [
  'checkTool',
  { ...own(session), key, tool: 'Bash', input: { command } },
]
const write = (session: UsedSession, path: string): Acting => [
  'checkTool',
  { ...own(session), key: 'acting', tool: 'Write', input: { file_path: path, content: '' }, action: { write: [path] } },
]
const endTurn = (session: UsedSession): Acting => [
  'appendEvents',
  { ...own(session), items: [{ type: 'turn.finished', ending: 'done' }] },
]

export const readyMadeUses: readonly ReadyMadeUse[] = [
  {
    name: 'tests-before-commit',
    acts: session => bash(session, 'git commit -m x'),
    effect: 'The tests have not passed',
  },
  { name: 'no-edits-outside', acts: session => write(session, '/etc/hosts'), effect: 'This writes outside' },
  { name: 'task-first', acts: session => write(session, 'notes.txt'), effect: 'No task is named yet.' },
  {
    name: 'reminder-at-stop',
    prepare: session => {
      const call = { tool: 'Write', input: { file_path: 'a', content: '' }, action: { write: ['a'] } }
      const report = { moment: 'after', key: 'changed', call, result: { ok: true } } as const
      return session.agent('reportMoment', { ...own(session), ...report })
    },
    acts: endTurn,
    effect: 'Files were changed',
  },
  {
    name: 'context-at-start',
    acts: session => bash(session, 'ls'),
    effect: 'The folder is',
  },
  {
    name: 'budget',
    entry: () => ({ name: 'budget', with: { turns: 1 } }),
    prepare: session => session.agent(...(endTurn(session) as ['appendEvents', Input<'appendEvents'>])), // the operation of `endTurn`
    acts: session => bash(session, 'ls'),
    effect: '1 of 1 turns',
  },
  {
    name: 'quiet-hours',
    entry: () => ({ name: 'quiet-hours', with: { from: 0, to: 24 } }),
    acts: session => bash(session, 'curl https://example.com'),
    effect: 'uses the network',
  },
  {
    name: 'loop-guard',
    prepare: async session => {
      for (const key of ['first', 'second'])
        await session.agent(...(bash(session, 'make', key) as ['checkTool', Input<'checkTool'>])) // the operation of `bash`
    },
    acts: session => bash(session, 'make'),
    effect: 'the same call 3 times',
  },
  {
    name: 'no-questions',
    prepare: ({ id, person }) => person('setVariable', { id, name: 'directive', value: 'Finish the task alone.' }),
    acts: session => [
      'checkTool',
      {
        ...own(session),
        key: 'acting',
        tool: 'AskUserQuestion',
        input: { questions: [{ question: 'Which?', header: 'Which', multiSelect: false, options: [{ label: 'a' }] }] },
      },
    ],
    effect: 'Finish the task alone.',
  },
]

export function fileFor({ name, entry }: ReadyMadeUse): object {
  return { use: [entry ? entry() : name] }
}

/** Returns how often the watcher has acted in the session, and how many messages of the gateway wait for the agent. */
export async function effectsOf({ effect }: ReadyMadeUse, { id, agent, person }: UsedSession) {
  const { items } = await person('listEvents', { id, limit: 500 })
  const commands = await agent('listCommands', { id })
  return {
    firings: items.filter(event => event.type === 'watch.fired' && event.text?.includes(effect)).length,
    messages: commands.items.length,
  }
}
