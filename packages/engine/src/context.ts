/** The context of every operation: store, feed, clock, settings, and `commit`, which applies a mutation once per idempotency key. */
import { hash, randomBytes } from 'node:crypto'
import {
  type Clock,
  Fault,
  formatId,
  type IdPrefix,
  newSecret,
  type Output,
  quotas,
  type Rule,
  type RunnerId,
  rates,
  type SessionId,
} from '@holdpoint/protocol'
import { credentialRule, dataFolderRule, type FileLookup, type ProtectedFolder, RuleSet } from '@holdpoint/rules'
import { ChangeBuilder } from './change-builder.ts'
import { ClockJumps } from './clock-jumps.ts'
import { ComputingTurns } from './computing-turns.ts'
import { EndedRules } from './ended-rules.ts'
import type { Feed } from './feed.ts'
import type { FileTokens } from './file-tokens.ts'
import type { Caller, DispatchOptions, OperationResult } from './gateway.ts'
import { KeySweep } from './key-sweep.ts'
import { Quota, RateQuota } from './quota.ts'
import { RefusedAttempts } from './refused-attempts.ts'
import { resolveSomeRequests, TooManyAtOnce } from './request-transitions.ts'
import { type IdempotencyRow, openCodes, type SessionRow } from './rows.ts'
import { type RuleFileReader, RuleFiles } from './rule-files.ts'
import { MissingRead, type Query, type Read, type Store } from './store.ts'
import type { StreamingBlocks } from './streaming-blocks.ts'
import { credentialNotValid, isTokenValid } from './token-transitions.ts'
import { TokenUse } from './token-use.ts'
import { usageOf } from './usage.ts'
import { WatchFiles } from './watch/watch-files.ts'
import { toSession } from './wire-views.ts'

export interface Settings {
  readonly defaultCwd: string
  readonly deadlineMs: number | null
  readonly onDeadline: 'deny' | 'wait'
  readonly parkAfterMs: number | null
  readonly runnerTtlMs: number
  /** An external agent that makes no call for this long is disconnected. */
  readonly agentTtlMs: number
  readonly sweepMs: number
  /** Sessions are deleted this long after they end; null keeps them forever. */
  readonly retentionMs: number | null
}
export const defaultSettings: Settings = {
  defaultCwd: '',
  deadlineMs: null,
  onDeadline: 'deny',
  parkAfterMs: 120_000,
  runnerTtlMs: 15_000,
  agentTtlMs: 30_000,
  sweepMs: 500,
  retentionMs: null,
}

export type FolderState = Output<'checkFolder'>['state']

/** The machine of this gateway, on which its local runner runs agents. */
export interface AgentMachine {
  /** The runner of this machine. Agents of other runners have other files. */
  readonly runner: RunnerId
  readonly home: string
  readonly files: FileLookup
  /** Says what exists at a path. Without it, the page cannot check a folder before a session starts there. */
  readonly checkFolder?: (path: string) => Promise<Exclude<FolderState, 'unknown'>>
  /** Reads the files with rules on this machine. Without it, rules come only from people. */
  readonly ruleFiles?: RuleFileReader
}

export interface Mutation<T> {
  readonly label: string
  readonly reads: readonly Read[]
  /** Returns the reply, or a Fault for the caller. The writes collected in `change` are committed in both cases. */
  readonly decide: (change: ChangeBuilder) => OperationResult<T> | Fault
  /** Decides a repeated call with the same idempotency key. Set for operations whose reply must not be stored because it contains a secret, or must be computed again because it depends on later changes. By default, a repeated call gets the stored reply. */
  readonly repeat?: (change: ChangeBuilder) => OperationResult<T> | Fault
  /** Set for operations whose input contains a secret that is not part of `once.input`. Returns whether a repeated call has the same secret as the first one. */
  readonly hasSameSecrets?: (change: ChangeBuilder) => boolean
}

/** The call that a mutation belongs to. */
export interface MutationCall {
  readonly caller: Caller
  readonly op: string
  readonly input: unknown
  readonly options: DispatchOptions
}

export function sha256(content: string | Uint8Array): string {
  return hash('sha256', content)
}

/** Returns the condition that selects the pending requests of all sessions or of one session. */
export function pendingIn(session?: SessionId): NonNullable<Query['where']> {
  return session ? { open: openCodes.pending, session } : { status: 'pending' }
}

/** Thrown inside `decide`, so that `commit` reloads the rules and decides the change again. */
class StaleRules extends Error {}

export class Context {
  readonly store: Store
  readonly feed: Feed
  readonly streamingBlocks: StreamingBlocks
  readonly clock: Clock
  readonly settings: Settings
  /** The data folder of this gateway, which agents must not touch; null if it has none. */
  readonly protectedFolder: ProtectedFolder | null
  readonly machine: AgentMachine | null
  /** Null if this gateway reads no files with rules. */
  readonly ruleFiles: RuleFiles | null
  readonly #random: (bytes: number) => Uint8Array
  #rules: { readonly seq: number; readonly set: RuleSet; readonly watchFiles: WatchFiles } = {
    seq: -1,
    set: new RuleSet([]),
    watchFiles: new WatchFiles([]),
  }
  readonly clockJumps = new ClockJumps()
  readonly computing: ComputingTurns
  readonly keySweep = new KeySweep()
  readonly refusedAttempts = new RefusedAttempts(this)
  readonly tokenUse = new TokenUse()
  readonly endedRules: EndedRules
  readonly fileTokens: FileTokens
  readonly quotas: {
    readonly subscriptions: Quota
    readonly longPolls: Quota
    readonly writtenBytes: RateQuota
  }
  #closing = false

  constructor(parts: {
    store: Store
    feed: Feed
    streamingBlocks: StreamingBlocks
    clock: Clock
    settings: Settings
    protectedFolder: ProtectedFolder | null
    machine: AgentMachine | null
    fileTokens: FileTokens
    random?: (bytes: number) => Uint8Array
  }) {
    this.store = parts.store
    this.feed = parts.feed
    this.streamingBlocks = parts.streamingBlocks
    this.clock = parts.clock
    this.computing = new ComputingTurns(parts.clock)
    this.settings = parts.settings
    this.protectedFolder = parts.protectedFolder
    this.machine = parts.machine
    this.ruleFiles = parts.machine?.ruleFiles
      ? new RuleFiles(this, parts.machine.ruleFiles, parts.machine.runner)
      : null
    this.fileTokens = parts.fileTokens
    this.#random = parts.random ?? randomBytes
    this.quotas = {
      subscriptions: new Quota(quotas.subscriptions, {
        unit: 'open event streams',
        advice: 'Close some streams and try again.',
      }),
      longPolls: new Quota(quotas.longPolls, {
        unit: 'waiting calls',
        advice: 'Wait for fewer results at the same time, or call without "wait".',
      }),
      writtenBytes: new RateQuota(
        rates.writtenBytes,
        { unit: 'bytes of changes per minute', advice: 'Try again in a minute.' },
        parts.clock,
      ),
    }
    this.endedRules = new EndedRules(this.feed)
    this.feed.onEvent(event => this.streamingBlocks.onEvent(event))
  }

  newId<P extends IdPrefix>(prefix: P) {
    return formatId(prefix, this.#random(20))
  }
  secret(bytes = 32): string {
    return newSecret(this.#random, bytes)
  }

  /** Commits a mutation, once per idempotency key. Keys are scoped to the caller and the operation. The change of a caller whose credential is no longer valid is refused, even if the credential was revoked after the call had started. If `decide` needs more reads than the mutation names, the change is decided again with them. */
  async commit<T>(mutation: Mutation<T>, call?: MutationCall): Promise<OperationResult<T>> {
    const credential = call?.caller.credential
    const idempotencyId = call && idempotencyIdOf(call)
    const bodyHash = idempotencyId === undefined || !call ? '' : bodyHashOf(call)
    let reads: readonly Read[] = [
      ...mutation.reads,
      ...(idempotencyId === undefined ? [] : [{ table: 'idempotency' as const, id: idempotencyId }]),
      ...(credential === undefined ? [] : [{ table: 'token' as const, id: credential }]),
    ]
    for (;;) {
      let releasedKeys: readonly string[] = []
      try {
        const result = await this.store.commit({
          label: mutation.label,
          reads,
          decide: view => {
            const change = new ChangeBuilder(view)
            if (credential !== undefined) {
              const token = change.get('token', credential)
              if (!token || !isTokenValid(token, change.now)) return { result: credentialNotValid() }
            }
            const before = idempotencyId === undefined ? undefined : change.get('idempotency', idempotencyId)
            if (before) {
              const result = repeatedResult(change, mutation, before, bodyHash)
              releasedKeys = change.releasedKeys
              return change.writes(result)
            }
            const result = mutation.decide(change)
            if (idempotencyId !== undefined && !(result instanceof Fault)) {
              const body = mutation.repeat ? null : result.body
              change.put('idempotency', {
                id: idempotencyId,
                ord: change.nextSeq,
                at: change.now,
                bodyHash,
                status: result.status,
                body,
              })
            }
            releasedKeys = change.releasedKeys
            return change.writes(result)
          },
        })
        // Ignore an error, because the sweep deletes keys that are not needed.
        if (releasedKeys.length > 0) await this.store.keys.delete(releasedKeys).catch(() => {})
        if (result instanceof Fault) throw result
        return result
      } catch (error) {
        if (error instanceof MissingRead) reads = [...reads, error.read]
        else if (error instanceof TooManyAtOnce) await this.#resolveSome(error)
        else if (error instanceof StaleRules) await this.#reloadRules()
        else throw error
      }
    }
  }

  /** Resolves with the reply of the first call with the same idempotency key, or null if there was none. Used by operations that do something outside the store before they commit. */
  async earlierReply<T>(call: MutationCall): Promise<OperationResult<T> | null> {
    const id = idempotencyIdOf(call)
    const row = id === undefined ? undefined : await this.store.get('idempotency', id)
    if (!row) return null
    if (row.bodyHash !== bodyHashOf(call)) throw idempotencyMismatch()
    return storedReply(row)
  }

  #resolveSome(requests: TooManyAtOnce): Promise<unknown> {
    return this.commit({
      label: 'resolveSome',
      reads: [
        { table: 'session', id: requests.session },
        { table: 'usage', id: requests.session },
      ],
      decide: change => {
        resolveSomeRequests(change, requests)
        return { status: 200, body: {} }
      },
    })
  }

  /** The rules that nobody can remove. */
  get builtInRules(): readonly Rule[] {
    return [...(this.protectedFolder ? [dataFolderRule] : []), credentialRule]
  }

  /** Returns the rules as of this transaction. If the cached rules are stale, `commit` reloads them and decides the change again. */
  rules(change: ChangeBuilder): RuleSet {
    if (change.view.rulesSeq !== this.#rules.seq) throw new StaleRules()
    return this.#rules.set
  }
  /** Returns the files with watchers as of this transaction, like `rules`. */
  watchFiles(change: ChangeBuilder): WatchFiles {
    if (change.view.rulesSeq !== this.#rules.seq) throw new StaleRules()
    return this.#rules.watchFiles
  }
  /** Whether a file had watchers when the rules were last loaded. */
  get hadWatchers(): boolean {
    return this.#rules.watchFiles.rows.length > 0
  }
  /** Resolves with the stored files with watchers as of now. A change must use `watchFiles` instead. */
  async currentWatchFiles(): Promise<WatchFiles> {
    await this.currentRules()
    return this.#rules.watchFiles
  }
  /** Resolves with the stored rules as of now. A change must use `rules` instead. */
  async currentRules(): Promise<RuleSet> {
    if ((await this.store.head()).rulesSeq !== this.#rules.seq) await this.#reloadRules()
    return this.#rules.set
  }
  async #reloadRules(): Promise<void> {
    // Read rulesSeq before the rules. If the rules change in between, the next comparison of rulesSeq fails and the rules are loaded again.
    const { rulesSeq } = await this.store.head()
    const [rules, files] = await Promise.all([this.store.find('rule', {}), this.store.find('watchfile', {})])
    this.#rules = {
      seq: rulesSeq,
      set: new RuleSet(rules, this.#rules.set),
      watchFiles: new WatchFiles(files, this.#rules.watchFiles),
    }
  }

  async toSession(row: SessionRow) {
    return toSession(row, await this.store.get('usage', row.id))
  }
  async toSessions(rows: readonly SessionRow[]) {
    const usage = await usageOf(
      this.store,
      rows.map(({ id }) => id),
    )
    return rows.map(row => toSession(row, usage.get(row.id)))
  }

  close(): void {
    this.#closing = true
  }
  /** Rejects if the credential was revoked in the meantime. Must be called after the data was read, so that nothing that was committed after the revocation is returned. */
  async #requireCredential({ credential }: Caller): Promise<void> {
    if (credential === undefined) return
    const [token, now] = await Promise.all([this.store.get('token', credential), this.store.now()])
    if (!token || !isTokenValid(token, now)) throw credentialNotValid()
  }
  /** Calls `check` once, and again after each event of the topic, until `check` returns a result that is ready or `waitMs` has passed. Rejects if the caller aborts or the gateway closes. Gives the caller's slot back while it waits. */
  async longPoll<T>(
    caller: Caller,
    { signal, slot }: DispatchOptions,
    topic: string,
    waitMs: number,
    check: () => Promise<{ ready: boolean; value: T }>,
  ): Promise<T> {
    if (waitMs === 0) return (await check()).value
    const release = this.quotas.longPolls.take(caller)
    // Use a timer instead of comparing times, because the wall clock may be changed during the wait.
    let timedOut = false
    let wake = () => {}
    const onAbort = () => wake()
    const cancelTimer = this.clock.after(waitMs, () => {
      timedOut = true
      wake()
    })
    signal?.addEventListener('abort', onAbort)
    // A separate function, so that a result that is not ready can be freed during the wait.
    const attempt = async (): Promise<{ readonly value: T } | null> => {
      const { ready, value } = await check()
      return ready || timedOut ? { value } : null
    }
    try {
      for (;;) {
        const waiter = this.feed.waitFor(topic)
        wake = waiter.cancel
        const result = await attempt()
        if (result) {
          await this.#requireCredential(caller)
          return result.value
        }
        if (signal?.aborted || this.#closing)
          throw new Fault('draining', 'The gateway is stopping; try again in a moment')
        slot?.release()
        await waiter.woken
        await slot?.acquire()
      }
    } finally {
      release()
      cancelTimer()
      signal?.removeEventListener('abort', onAbort)
      wake()
    }
  }
}

function repeatedResult<T>(
  change: ChangeBuilder,
  mutation: Mutation<T>,
  before: IdempotencyRow,
  bodyHash: string,
): OperationResult<T> | Fault {
  if (before.bodyHash !== bodyHash || mutation.hasSameSecrets?.(change) === false) return idempotencyMismatch()
  return mutation.repeat ? mutation.repeat(change) : storedReply(before)
}

function idempotencyIdOf({ caller, op, options: { idempotencyKey: key } }: MutationCall): string | undefined {
  return key === undefined ? undefined : sha256(JSON.stringify([caller.id, op, key]))
}
function bodyHashOf({ input }: MutationCall): string {
  return sha256(JSON.stringify(input))
}
function idempotencyMismatch(): Fault {
  return new Fault(
    'idempotency_mismatch',
    'This Idempotency-Key was already used with a different body; use a new key for a new call',
  )
}
function storedReply<T>({ status, body }: IdempotencyRow): OperationResult<T> {
  return { status, body: body as T } // the key is scoped to the operation, so this body is an output of the same operation
}
