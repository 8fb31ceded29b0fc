/** Turns the input of an evaluation into the values that conditions read. */
import { type Action, actionKind, actionOf, limits } from '@holdpoint/protocol'
import { isInside, joinPath } from '../paths.ts'
import { shellTextOf } from '../restricted-call.ts'
import {
  ActionFacts,
  NowFacts,
  PromptFacts,
  RecentFacts,
  ResultFacts,
  RiskFacts,
  SessionFacts,
  type WatchFacts,
} from './condition-names.ts'
import { readCommandMax, readPromptMax } from './condition-work.ts'
import type { WatchPass } from './watch-pass.ts'

/** The facts of one pass; the variables are added for each file. */
export class PassFacts {
  readonly #pass: WatchPass
  readonly shared: Omit<WatchFacts, 'vars'>
  /** Whether the command is too long for conditions. */
  readonly hasLongCommand: boolean
  #recent: readonly RecentFacts[] | undefined
  /** What `recent` has returned, by the time that it looks back. */
  readonly #recentWithin = new Map<number, readonly RecentFacts[]>()

  constructor(pass: WatchPass) {
    this.#pass = pass
    const action = pass.call && actionOf(pass.call)
    const shellText = (pass.call && action && shellTextOf(pass.call, action)) ?? ''
    this.hasLongCommand = shellText.length > readCommandMax
    const { risk, result, localTime } = pass
    this.shared = {
      session: sessionFacts(pass),
      action: actionFacts(pass, action, this.hasLongCommand ? '' : shellText),
      risk: Object.assign(new RiskFacts(), { level: risk?.level ?? '', touches: risk?.touches ?? [] }),
      result: Object.assign(new ResultFacts(), {
        ok: result?.ok ?? false,
        exitCode: BigInt(result?.exitCode ?? -1),
        text: result?.text.slice(0, limits.resultTextMax) ?? '',
      }),
      prompt: Object.assign(new PromptFacts(), { text: pass.prompt.slice(0, readPromptMax) }),
      now: Object.assign(new NowFacts(), {
        hour: BigInt(localTime.hour),
        minute: BigInt(localTime.minute),
        weekday: BigInt(localTime.weekday),
      }),
    }
  }

  /** Returns the calls of the session within this time, the newest last. */
  recent(withinMs: number): readonly RecentFacts[] {
    const known = this.#recentWithin.get(withinMs)
    if (known) return known
    const { now } = this.#pass.context
    this.#recent ??= this.#pass.recent
      .slice(-limits.recentCallsMax)
      .map(({ tool, digest, ok, at }) =>
        Object.assign(new RecentFacts(), { tool, digest, ok: ok ?? false, secondsAgo: Math.max(0, now - at) / 1000 }),
      )
    const found = this.#recent.filter(({ secondsAgo }) => secondsAgo * 1000 <= withinMs)
    this.#recentWithin.set(withinMs, found)
    return found
  }
}

function sessionFacts({ session, spent }: WatchPass): SessionFacts {
  const { cost, tokens, minutes } = spent('session')
  return Object.assign(new SessionFacts(), {
    ...session,
    turn: BigInt(session.turn),
    cost,
    tokens: BigInt(Math.round(tokens)),
    minutes,
  })
}

const writingTouches: ReadonlySet<string> = new Set([
  'deletes',
  'writes-outside',
  'installs',
  'rewrites-history',
  'settings',
])

function actionFacts(pass: WatchPass, action: Action | null, command: string): ActionFacts {
  const { call, risk, isQuestion, digest, session } = pass
  const facts = new ActionFacts()
  if (isQuestion) return Object.assign(facts, { kind: 'question', digest })
  if (!call || !action) return facts
  const written = 'write' in action ? action.write.map(path => joinPath(call.cwd, path)) : []
  const read = 'read' in action ? action.read.map(path => joinPath(call.cwd, path)) : []
  const touches = risk?.touches ?? []
  return Object.assign(facts, {
    kind: actionKind(action),
    tool: call.tool,
    command,
    paths: [...written, ...read],
    host: 'fetch' in action ? action.fetch : '',
    server: 'mcp' in action ? action.mcp : '',
    digest,
    writes: written.length > 0 || touches.some(touch => writingTouches.has(touch)),
    outside: touches.includes('writes-outside') || written.some(path => !isInside(path, session.folder)),
  })
}
