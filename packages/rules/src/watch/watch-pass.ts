/** The input and the result of the evaluation of watchers. Both are plain data, so that the evaluation is pure. */
import type {
  Risk,
  RunnerId,
  ToolCall,
  VariableDeclaration,
  VariableValue,
  WatcherDraft,
  WatcherRef,
  WatchLimit,
  WatchMoment,
  WatchSource,
} from '@holdpoint/protocol'
import type { RuleContext } from '../rule-context.ts'

/** The variables and watchers of one version of a file. */
export interface WatchFile {
  /** The key under which the variables of this file are stored. All versions of a file with the same trust have the same key. */
  readonly id: string
  readonly source: WatchSource
  readonly version: number
  /** The folder of a project's file; null for the person's own file. */
  readonly folder: string | null
  /** The runner on whose machine a project's file is. Without it, the file applies on every machine. */
  readonly runner?: RunnerId
  readonly vars: Readonly<Record<string, VariableDeclaration>>
  /** Ready-made watchers are included, with the values of their settings inserted. */
  readonly watchers: readonly FileWatcher[]
}

export type FileWatcher = WatcherDraft & { readonly readyMade?: string }

/** A call of the session, as `recent` returns it. */
export interface RecentCall {
  readonly key: string
  readonly tool: string
  /** The digest of tool, input and folder: two calls with the same digest are identical. */
  readonly digest: string
  readonly at: number
  /** Missing until the call has finished, and if the agent does not report whether it succeeded. */
  readonly ok?: boolean
}

/** What a session, a day or a folder has used. */
export interface Spent {
  readonly cost: number
  readonly tokens: number
  readonly turns: number
  readonly minutes: number
}

/** What is stored about the earlier firings of a watcher in a session. Firings with a problem do not count. */
export interface Firings {
  readonly count: number
  readonly lastAt: number
  /** The amount up to which a person has allowed a limit watcher to continue. */
  readonly allowedUpTo?: number
  /** When a person allowed it. Missing if an older version stored it. */
  readonly allowedAt?: number
}

/** Returns the amount up to which a person has allowed a limit watcher to continue. What was allowed for one day does not count on the next. */
export function allowedAmount(per: WatchLimit['per'], fired: Firings | undefined, now: number): number | undefined {
  if (!fired) return undefined
  const isOver = per === 'day' && dayOf(fired.allowedAt ?? fired.lastAt) !== dayOf(now)
  return isOver ? undefined : fired.allowedUpTo
}
/** Returns the day of a time on the gateway's machine. */
function dayOf(time: number): string {
  return new Date(time).toDateString()
}

export interface WatchPass {
  /** The moment, preceded by "start" if the session has not started for watchers. */
  readonly moments: readonly WatchMoment[]
  readonly session: {
    readonly driver: string
    readonly folder: string
    readonly mode: string
    readonly branch: string
    readonly turn: number
    readonly idleSeconds: number
    readonly agentPath: readonly string[]
  }
  /** The call, at "before" and "after"; null at the other moments and for questions. */
  readonly call: ToolCall | null
  /** Whether the agent asks a question or shows a form, at "before". */
  readonly isQuestion: boolean
  readonly risk: Risk | null
  /** The result, at "after". */
  readonly result: { readonly ok?: boolean; readonly exitCode?: number; readonly text: string } | null
  /** The text of the message, at "prompt". */
  readonly prompt: string
  /** What rules use to match a call: folder, files, time. */
  readonly context: RuleContext
  /** The time of day on the gateway's machine. */
  readonly localTime: { readonly hour: number; readonly minute: number; readonly weekday: number }
  /** The newest call last. The call itself is not included. */
  readonly recent: readonly RecentCall[]
  /** The digest of the call; empty if there is none. */
  readonly digest: string
  readonly values: (file: WatchFile) => Readonly<Record<string, VariableValue>>
  readonly fired: (file: WatchFile, watcher: string) => Firings | undefined
  readonly spent: (per: NonNullable<WatchLimit['per']>) => Spent
}

/** A watcher that fired, or that could not be evaluated. */
export interface Firing {
  readonly file: WatchFile
  readonly watcher: WatcherRef
  readonly moment: WatchMoment
  readonly effects: readonly ('set' | 'say' | 'ask' | 'deny' | 'limit')[]
  readonly text?: string
  readonly set?: Readonly<Record<string, VariableValue>>
  /** Why the watcher could not be evaluated. It then asks if it would deny or ask ("prompt": it denies), and has no effect otherwise. */
  readonly problem?: string
  /** For a limit: the amount that was used, and the amount at which the watcher asks again after an allow. */
  readonly limit?: { readonly used: number; readonly next: number }
}

export interface WatchResult {
  readonly verdict: 'deny' | 'ask' | null
  /** The sentence and the watcher behind the verdict. The sentence of a watcher that nobody has trusted is neutral. */
  readonly reason: string
  readonly watcher: WatcherRef | null
  readonly say: readonly string[]
  readonly firings: readonly Firing[]
}
