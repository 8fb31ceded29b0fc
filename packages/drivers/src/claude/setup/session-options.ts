/** What a person may wish of one session when they start it. A wish that is not understood is refused with a sentence: dropped silently, it would look granted. */
import type { Options } from '@anthropic-ai/claude-agent-sdk'
import { Fault, type Json, type JsonObject, limits, type Session } from '@holdpoint/protocol'
import type { TranscriptStore } from '../transcript/transcript-store.ts'

export interface SessionOptions extends Pick<Options, 'mcpServers' | 'agents' | 'additionalDirectories'> {
  readonly fork?: boolean
  /** A later switch to bypassPermissions is possible. */
  readonly allowBypass?: boolean
  readonly idleParkMs?: number
}

/** What is wrong with a value; null where nothing is. */
type Check = (value: Json | undefined) => string | null
const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const flag: Check = value => (typeof value === 'boolean' ? null : 'must be true or false')
const words: Check = value => (typeof value === 'string' && value !== '' ? null : 'must be text')
const list: Check = value =>
  Array.isArray(value) && value.every(item => words(item) === null) ? null : 'must be a list of texts'
const texts: Check = value =>
  isObject(value) && Object.values(value).every(item => typeof item === 'string')
    ? null
    : 'must be an object whose members are texts'
const span: Check = value =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= limits.deadlineMaxMs
    ? null
    : `must be a whole number of milliseconds, from 0 to ${limits.deadlineMaxMs}`

/** An object with these members; what else stands in it is the SDK's to understand. */
function members(needed: Readonly<Record<string, Check>>, more: Readonly<Record<string, Check>> = {}): Check {
  return value => {
    if (!isObject(value)) return 'must be an object'
    for (const [name, check] of Object.entries({ ...needed, ...more })) {
      if (value[name] === undefined && !Object.hasOwn(needed, name)) continue
      const wrong = check(value[name])
      if (wrong) return `${name} ${wrong}`
    }
    return null
  }
}
/** An object of such things by name. */
function named(check: Check): Check {
  return value => {
    if (!isObject(value)) return 'must be an object, by name'
    for (const [name, item] of Object.entries(value)) {
      const wrong = check(item)
      if (wrong) return `"${name}": ${wrong}`
    }
    return null
  }
}

const stdio = members({ command: words }, { args: list, env: texts })
const remote = members({ url: words }, { headers: texts })
const server: Check = value => {
  if (!isObject(value)) return 'must be an object'
  const { type = 'stdio' } = value
  if (type === 'stdio') return stdio(value)
  return type === 'http' || type === 'sse' ? remote(value) : 'type must be stdio, http or sse'
}
const agent = members({ description: words, prompt: words }, { tools: list, disallowedTools: list, model: words })

const checks: Readonly<Record<keyof SessionOptions, Check>> = {
  fork: flag,
  allowBypass: flag,
  mcpServers: named(server),
  agents: named(agent),
  additionalDirectories: list,
  idleParkMs: span,
}

export function parseSessionOptions({
  options,
  conversationId,
}: Pick<Session, 'options' | 'conversationId'>): SessionOptions {
  for (const [name, value] of Object.entries(options)) {
    const wrong = Object.hasOwn(checks, name)
      ? checks[name as keyof SessionOptions](value) // by the line above
      : `is not an option of Claude Code; there is ${Object.keys(checks).join(', ')}`
    if (wrong) throw new Fault('bad_input', `options.${name}: ${wrong}`)
  }
  const wishes = options as SessionOptions // each member was checked
  if (wishes.fork && conversationId === null)
    throw new Fault('bad_input', 'options.fork: needs conversationId, the conversation to fork')
  return wishes
}

/** Whether bypassPermissions can be entered in this session: that is decided when it is started, once, and noted. */
export function mayBypass(rows: TranscriptStore, info: Session): boolean {
  const noted = rows.meta.mayBypass ?? info.mode === 'bypassPermissions'
  if (rows.meta.mayBypass === undefined) rows.note({ mayBypass: noted })
  return noted || parseSessionOptions(info).allowBypass === true
}
