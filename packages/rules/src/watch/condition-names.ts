/** The names that conditions of watchers can use, with their types, and the moments at which each of them is known. */
import type { VariableDeclaration, VariableValue, WatchMoment } from '@holdpoint/protocol'

export class SessionFacts {
  driver = ''
  folder = ''
  mode = ''
  branch = ''
  turn = 0n
  cost = 0
  tokens = 0n
  minutes = 0
  idleSeconds = 0
  agentPath: readonly string[] = []
}
export class ActionFacts {
  kind = ''
  tool = ''
  command = ''
  paths: readonly string[] = []
  host = ''
  server = ''
  digest = ''
  writes = false
  outside = false
}
export class RiskFacts {
  level = ''
  touches: readonly string[] = []
}
export class ResultFacts {
  ok = false
  exitCode = -1n
  text = ''
}
export class PromptFacts {
  text = ''
}
export class NowFacts {
  hour = 0n
  minute = 0n
  weekday = 1n
}
export class RecentFacts {
  tool = ''
  digest = ''
  ok = false
  secondsAgo = 0
}
/** The variables of one file. The fields are the variables that the file declares. */
export class VariableFacts {
  readonly [name: string]: boolean | bigint | number | string
}

/** What conditions are evaluated on. */
export type WatchFacts = {
  readonly vars: VariableFacts
  readonly session: SessionFacts
  readonly action: ActionFacts
  readonly risk: RiskFacts
  readonly result: ResultFacts
  readonly prompt: PromptFacts
  readonly now: NowFacts
}

export type CelType = 'bool' | 'int' | 'double' | 'string' | 'list<string>'
export type CelFields = Readonly<Record<string, CelType>>

export interface KnownName {
  readonly type: string
  readonly ctor: new () => object
  readonly fields: CelFields
  /** The moments at which the name is known; all of them if missing. */
  readonly moments?: readonly WatchMoment[]
}

const calls: readonly WatchMoment[] = ['before', 'after']

/** The names besides `vars`, whose fields differ from file to file. */
export const knownNames: Readonly<Record<Exclude<keyof WatchFacts, 'vars'>, KnownName>> = {
  session: {
    type: 'Session',
    ctor: SessionFacts,
    fields: {
      driver: 'string',
      folder: 'string',
      mode: 'string',
      branch: 'string',
      turn: 'int',
      cost: 'double',
      tokens: 'int',
      minutes: 'double',
      idleSeconds: 'double',
      agentPath: 'list<string>',
    },
  },
  action: {
    type: 'Action',
    ctor: ActionFacts,
    fields: {
      kind: 'string',
      tool: 'string',
      command: 'string',
      paths: 'list<string>',
      host: 'string',
      server: 'string',
      digest: 'string',
      writes: 'bool',
      outside: 'bool',
    },
    moments: calls,
  },
  risk: { type: 'Risk', ctor: RiskFacts, fields: { level: 'string', touches: 'list<string>' }, moments: calls },
  result: {
    type: 'Result',
    ctor: ResultFacts,
    fields: { ok: 'bool', exitCode: 'int', text: 'string' },
    moments: ['after'],
  },
  prompt: { type: 'Prompt', ctor: PromptFacts, fields: { text: 'string' }, moments: ['prompt'] },
  now: { type: 'Now', ctor: NowFacts, fields: { hour: 'int', minute: 'int', weekday: 'int' } },
}

export const recentFields: CelFields = { tool: 'string', digest: 'string', ok: 'bool', secondsAgo: 'double' }

/** Returns the default value of a variable, which decides its type. */
export function defaultOf(declaration: VariableDeclaration): VariableValue {
  return typeof declaration === 'object' ? declaration.default : declaration
}

export function typeOf(value: VariableValue): 'bool' | 'int' | 'double' | 'string' {
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'string') return 'string'
  return Number.isSafeInteger(value) ? 'int' : 'double'
}

/** Returns why a variable cannot have a value, or null. A variable whose default is 0.5 can also be 1. */
export function variableProblem(name: string, declaration: VariableDeclaration, value: VariableValue): string | null {
  const wanted = typeOf(defaultOf(declaration))
  const given = typeOf(value)
  if (given === wanted || (wanted === 'double' && given === 'int')) return null
  return `The variable ${name} is ${typeWords[wanted]}, but ${JSON.stringify(value)} is ${typeWords[given]}.`
}

const typeWords = { bool: 'true or false', int: 'a whole number', double: 'a number', string: 'a text' } as const

/** Returns the variables of a file as conditions see them: the stored values, or else the defaults. A stored value of another type, from before a change of the file, does not count. */
export function variableFacts(
  declarations: Readonly<Record<string, VariableDeclaration>>,
  stored: Readonly<Record<string, VariableValue>>,
): VariableFacts {
  const facts = new VariableFacts()
  for (const [name, declaration] of Object.entries(declarations)) {
    const given = Object.hasOwn(stored, name) ? stored[name] : undefined
    const isUsable = given !== undefined && variableProblem(name, declaration, given) === null
    const value = isUsable ? given : defaultOf(declaration)
    Object.assign(facts, { [name]: typeOf(defaultOf(declaration)) === 'int' ? BigInt(value) : value })
  }
  return facts
}
