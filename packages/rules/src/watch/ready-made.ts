/** Ready-made watchers, which a file turns on by name in "use". Each of them is a few watchers as a person would write them, with the values of its settings inserted. */
import {
  limits,
  type ReadyMadeUse,
  type VariableDeclaration,
  type VariableValue,
  type WatcherDraft,
} from '@holdpoint/protocol'
import { variableProblem } from './condition-names.ts'
import { durationMs } from './condition-work.ts'
import { watchTexts } from './texts.ts'
import type { FileWatcher } from './watch-pass.ts'

export interface ReadyMadeSetting {
  readonly name: string
  /** The value that is used if the file gives none. It decides the type; null is for a number without a default. */
  readonly default: VariableValue | null
  readonly description: string
}

export interface ReadyMadeWatchers {
  readonly name: string
  /** One sentence for people. */
  readonly description: string
  readonly settings: readonly ReadyMadeSetting[]
}

type Settings = Readonly<Record<string, VariableValue>>

interface ReadyMade extends ReadyMadeWatchers {
  readonly vars?: Readonly<Record<string, VariableDeclaration>>
  readonly watch: (settings: Settings) => readonly WatcherDraft[]
  /** Returns why a setting cannot be used, or null. */
  readonly problem?: (settings: Settings) => { readonly setting: string; readonly problem: string } | null
}

const tests: ReadyMadeSetting = {
  name: 'tests',
  default: 'npm test',
  description: 'The command that runs the tests.',
}

const readyMade: readonly ReadyMade[] = [
  {
    name: 'tests-before-commit',
    description:
      'A commit is denied until the tests have passed after the last change of a file by a tool of the agent.',
    settings: [tests, { name: 'commit', default: 'git commit', description: 'The command that is denied.' }],
    vars: { testsPassed: { default: false, note: 'Whether the tests have passed since the last change of a file.' } },
    watch: settings => [
      {
        name: 'tests-before-commit-changed',
        on: 'after',
        when: 'action.writes',
        do: { set: { testsPassed: 'false' } },
      },
      {
        name: 'tests-before-commit-ran',
        on: 'after',
        command: String(settings.tests),
        do: { set: { testsPassed: 'result.ok' } },
      },
      {
        name: 'tests-before-commit',
        on: 'before',
        command: String(settings.commit),
        when: '!vars.testsPassed',
        do: {
          deny: `The tests have not passed since the last change. Run ${plain(settings.tests)}, and commit when it has passed.`,
        },
      },
    ],
  },
  {
    name: 'no-edits-outside',
    description: 'A person is asked before the agent writes outside of the folder of the session.',
    settings: [],
    watch: () => [
      {
        name: 'no-edits-outside',
        on: 'before',
        when: 'action.outside',
        do: { ask: 'This writes outside of the folder of the session.' },
      },
    ],
  },
  {
    name: 'task-first',
    description: 'The agent must name its task before it changes files with its tools.',
    settings: [],
    vars: { task: { default: '', setBy: 'agent', note: 'The task or the issue that the agent works on.' } },
    watch: () => [
      {
        name: 'task-first',
        on: 'before',
        when: 'action.writes && vars.task == ""',
        do: {
          deny: "No task is named yet. Set the variable “task” to the task or the issue that this change is for, with a tool that sets variables or with: holdpoint set task '#12'. Then try again.",
        },
      },
    ],
  },
  {
    name: 'reminder-at-stop',
    description: 'An agent that stops after changes without passing tests is sent back to work with a reminder.',
    settings: [tests, { name: 'times', default: 1, description: 'How often the agent is reminded in a session.' }],
    vars: { changes: { default: 0, note: 'How many calls have changed files since the tests last passed.' } },
    watch: settings => [
      {
        name: 'reminder-at-stop-changed',
        on: 'after',
        when: 'action.writes',
        do: { set: { changes: 'vars.changes + 1' } },
      },
      {
        name: 'reminder-at-stop-passed',
        on: 'after',
        command: String(settings.tests),
        when: 'result.ok',
        do: { set: { changes: '0' } },
      },
      {
        name: 'reminder-at-stop',
        on: 'stop',
        when: 'vars.changes > 0',
        times: Number(settings.times),
        do: { say: `Files were changed, and ${plain(settings.tests)} has not passed since.` },
      },
    ],
    problem: ({ times }) => atLeast('times', times, 1),
  },
  {
    name: 'context-at-start',
    description: 'The agent reads a text at the start of each session.',
    settings: [
      {
        name: 'text',
        default: 'The folder is ${session.folder}, and the branch is ${session.branch}.',
        description: 'The text. It may contain expressions, such as ${session.branch}.',
      },
    ],
    watch: settings => [{ name: 'context-at-start', on: 'start', do: { say: String(settings.text) } }],
    problem: ({ text }) => (text === '' ? { setting: 'text', problem: 'The text is empty.' } : null),
  },
  {
    name: 'budget',
    description: 'At the limit, the agent waits until a person lets it continue.',
    settings: [
      { name: 'cost', default: null, description: 'The limit in US dollars; 5 if you set no other limit.' },
      { name: 'tokens', default: null, description: 'The limit in tokens, instead of a cost.' },
      { name: 'turns', default: null, description: 'The limit in turns, instead of a cost.' },
      { name: 'minutes', default: null, description: 'The limit in minutes of work, instead of a cost.' },
      { name: 'per', default: 'session', description: 'What is counted together: session, day or folder.' },
    ],
    watch: settings => [{ name: 'budget', on: 'before', do: { limit: budgetLimit(settings) } }],
    problem: budgetProblem,
  },
  {
    name: 'quiet-hours',
    description: 'During some hours of the day, a person is asked before the agent uses the network.',
    settings: [
      { name: 'from', default: 22, description: 'The hour at which the quiet time starts.' },
      { name: 'to', default: 7, description: 'The hour at which the quiet time ends.' },
    ],
    watch: ({ from = 22, to = 7 }) => [
      {
        name: 'quiet-hours',
        on: 'before',
        when: `(now.hour >= ${from} ${from < to ? '&&' : '||'} now.hour < ${to}) && "network" in risk.touches`,
        do: { ask: `This uses the network between ${from}:00 and ${to}:00.` },
      },
    ],
    problem: ({ from, to }) => hourProblem('from', from) ?? hourProblem('to', to),
  },
  {
    name: 'loop-guard',
    description: 'A person is asked if the agent makes the same call again and again.',
    settings: [
      { name: 'times', default: 3, description: 'How many identical calls it takes until a person is asked.' },
      { name: 'within', default: '10m', description: 'The time in which identical calls are counted.' },
    ],
    watch: ({ times = 3, within = '10m' }) => [
      {
        name: 'loop-guard',
        on: 'before',
        when: `action.digest != "" && recent("${within}").filter(call, call.digest == action.digest).size() >= ${Number(times) - 1}`,
        do: { ask: `The agent has made the same call ${times} times within ${within}.` },
      },
    ],
    problem: ({ times, within }) =>
      atLeast('times', times, 2) ??
      (Number(times) > limits.recentCallsMax
        ? {
            setting: 'times',
            problem: `At most ${limits.recentCallsMax} calls are remembered, so choose a smaller number.`,
          }
        : null) ??
      (durationMs(String(within)) === null
        ? { setting: 'within', problem: 'The time must be a number and one of s, m, h, d, for example 10m.' }
        : null),
  },
  {
    name: 'no-questions',
    description:
      'While the variable “directive” has a text, the agent may not ask questions and reads that text instead.',
    settings: [],
    vars: { directive: { default: '', note: 'What the agent has to do without asking. Empty if it may ask.' } },
    watch: () => [
      {
        name: 'no-questions',
        on: 'before',
        action: 'question',
        when: 'vars.directive != ""',
        do: { deny: 'Do not ask; act on the directive: ${vars.directive}' },
      },
    ],
  },
]

/** The ready-made watchers, for people who choose from them. */
export const readyMadeWatchers: readonly ReadyMadeWatchers[] = readyMade.map(({ name, description, settings }) => ({
  name,
  description,
  settings,
}))

/** A problem of an entry of "use", with the path of the wrong field inside the entry. */
export class SettingProblem extends Error {
  readonly path: readonly string[]
  constructor(path: readonly string[], message: string) {
    super(message)
    this.path = path
  }
}

/** Returns the watchers of an entry of "use". `earlier` is how many entries before it have the same name; the names of their watchers differ by a number. Throws a SettingProblem. */
export function expandReadyMade(
  use: ReadyMadeUse,
  earlier: number,
): { readonly vars: Readonly<Record<string, VariableDeclaration>>; readonly watchers: readonly FileWatcher[] } {
  const { name, cwd, with: given = {} } = typeof use === 'string' ? { name: use } : use
  const found = readyMade.find(each => each.name === name)
  if (!found)
    throw new SettingProblem(
      ['name'],
      watchTexts.unknownReadyMade(
        name,
        readyMade.map(each => each.name),
      ),
    )
  const settings = settingsOf(found, given)
  return {
    vars: found.vars ?? {},
    watchers: found.watch(settings).map(watcher => ({
      ...watcher,
      name: earlier === 0 ? watcher.name : `${watcher.name}-${earlier + 1}`,
      ...(cwd === undefined ? {} : { scope: { cwd } }),
      readyMade: name,
    })),
  }
}

function settingsOf({ name, settings, problem }: ReadyMade, given: Settings): Settings {
  for (const [key, value] of Object.entries(given)) {
    const setting = settings.find(each => each.name === key)
    if (!setting)
      throw new SettingProblem(
        ['with', key],
        watchTexts.unknownSetting(
          name,
          key,
          settings.map(each => each.name),
        ),
      )
    // A number may have a fraction here. Ready-made watchers that need a whole number check it themselves.
    const declared = typeof setting.default === 'string' ? '' : 0.5
    const wrong = variableProblem(key, declared, value)
    if (wrong) throw new SettingProblem(['with', key], watchTexts.wrongSetting(wrong))
  }
  const defaults = settings.flatMap(each => (each.default === null ? [] : [[each.name, each.default] as const]))
  const all = { ...Object.fromEntries(defaults), ...given }
  const wrong = problem?.(all)
  if (wrong) throw new SettingProblem(['with', wrong.setting], watchTexts.wrongSetting(wrong.problem))
  return all
}

/** Returns a setting as a text of a watcher contains it. What a person has set must not be read as an expression. */
function plain(value: VariableValue | undefined): string {
  return String(value).replaceAll('${', '$ {')
}

function atLeast(setting: string, value: VariableValue | undefined, least: number) {
  const isFine = Number.isSafeInteger(value) && Number(value) >= least
  return isFine ? null : { setting, problem: `${setting} must be a whole number of at least ${least}.` }
}

function hourProblem(setting: string, hour: VariableValue | undefined) {
  const isFine = Number.isSafeInteger(hour) && Number(hour) >= 0 && Number(hour) <= 24
  return isFine ? null : { setting, problem: `${setting} must be a whole number from 0 to 24.` }
}

const amounts = ['cost', 'tokens', 'turns', 'minutes'] as const
const pers = ['session', 'day', 'folder'] as const

function budgetLimit(settings: Settings): NonNullable<WatcherDraft['do']['limit']> {
  const [unit = 'cost'] = amounts.filter(each => settings[each] !== undefined)
  const per = pers.find(each => each === settings.per) ?? 'session'
  return { [unit]: Number(settings[unit] ?? 5), per }
}

function budgetProblem(given: Settings) {
  const [unit, other] = amounts.filter(each => given[each] !== undefined)
  if (other !== undefined) return { setting: other, problem: `A budget has one amount. Use ${unit} or ${other}.` }
  const amount = unit === undefined ? 1 : Number(given[unit])
  if (amount <= 0) return { setting: String(unit), problem: `${unit} must be more than 0.` }
  if ((unit === 'tokens' || unit === 'turns') && !Number.isSafeInteger(amount))
    return { setting: unit, problem: `${unit} must be a whole number.` }
  if (!pers.some(per => per === given.per)) return { setting: 'per', problem: 'per must be session, day or folder.' }
  return null
}
