/** The gateway itself: opens the archive, runs every operation through one gate, and lets people watch. */
import {
  type Call,
  type Clock,
  Cursor,
  contract,
  Fault,
  faultFromZod,
  formatCursor,
  limits,
  type OperationName,
  type ParsedInput,
  systemClock,
} from '@holdpoint/protocol'
import { maySee, sessionNotFound } from './authorization.ts'
import { Context, defaultSettings, pendingIn, type Settings } from './context.ts'
import { Feed, frameOf } from './feed.ts'
import type {
  Caller,
  DispatchOptions,
  FrameListener,
  Gateway,
  OperationResult,
  SubscribeOptions,
  Subscription,
} from './gateway.ts'
import {
  appendEvents,
  attachSession,
  checkTool,
  detachSession,
  finishCommand,
  listCommands,
  takeCommand,
} from './operations/agent.ts'
import { listAudit } from './operations/audit.ts'
import { reportDelivery, withdrawRequest } from './operations/delivery.ts'
import { deleteDraft, getDraft, putDraft } from './operations/drafts.ts'
import { listEvents, seqOf } from './operations/events.ts'
import { answerRequest, answerRequests, getRequest, listRequests, openRequest } from './operations/requests.ts'
import { addRule, checkRules, listRules, removeRule } from './operations/rules.ts'
import { announceRunner, listDrivers, listRunners, listWork, renewRunner, retireRunner } from './operations/runners.ts'
import {
  deleteSession,
  endSession,
  getSession,
  interruptSession,
  listSessions,
  patchSession,
  sendMessage,
  startSession,
  stopEverything,
} from './operations/sessions.ts'
import {
  addToken,
  authenticate,
  ensureToken,
  listTokens,
  makeLink,
  redeemLink,
  removeToken,
  signOut,
} from './operations/tokens.ts'
import { eventBytes, fillPage, scan, scanEvents } from './paging.ts'
import type { Store, StoredEvent } from './store.ts'
import { StreamingBlocks } from './streaming-blocks.ts'
import { sweep } from './sweep.ts'
import { toRequest } from './wire-views.ts'

type Operation<K extends OperationName> = (
  ctx: Context,
  caller: Caller,
  input: ParsedInput<K>,
  options: DispatchOptions,
) => Promise<OperationResult<unknown>>
type Operations = { readonly [K in OperationName]: Operation<K> }

const operations: Operations = {
  listDrivers,
  startSession,
  listSessions,
  getSession,
  patchSession,
  sendMessage,
  interruptSession,
  endSession: endSession,
  deleteSession,
  stopEverything,
  listEvents,
  listRequests,
  getRequest,
  answerRequest,
  answerRequests,
  putDraft,
  getDraft,
  deleteDraft,
  openRequest,
  appendEvents,
  checkTool,
  withdrawRequest,
  reportDelivery,
  attachSession,
  detachSession,
  listCommands,
  takeCommand,
  finishCommand: finishCommand,
  announceRunner,
  renewRunner,
  retireRunner,
  listWork,
  listRunners,
  listRules,
  addRule,
  removeRule,
  checkRules,
  listAudit,
  listTokens,
  addToken,
  removeToken,
  signOut,
  makeLink,
  signIn: async (ctx, _caller, input) => ({
    status: 200,
    body: { person: (await redeemLink(ctx, input.code)).caller.name },
  }),
  whoAmI: async (ctx, caller) => ({
    status: 200,
    body: { person: caller.name, role: caller.role, now: await ctx.store.now() },
  }),
  backup: async (ctx, _caller, input) => {
    const { epoch, seq } = ctx.feed.position
    return {
      status: 200,
      body: { file: input.file, ...(await ctx.store.backup(input.file)), cursor: formatCursor(epoch, seq) },
    }
  },
}

export interface GatewayOptions {
  readonly store: Store
  readonly clock?: Clock
  readonly random?: (bytes: number) => Uint8Array
  readonly settings?: Partial<Settings>
  /** Hears of what the sweep could not do; the sweep goes on. */
  readonly onError?: (error: unknown) => void
}

export async function openGateway({
  store,
  clock = systemClock,
  random,
  settings,
  onError = () => {},
}: GatewayOptions): Promise<Gateway> {
  const head = await store.head()
  // A cursor names a row by the epoch in which it was written, and the last row is of an earlier one than this open.
  const feed = new Feed(store, { seq: head.seq, epoch: (await store.epochAt(head.seq)) ?? head.epoch })
  const live = new StreamingBlocks(clock, frame => feed.send(frame))
  const ctx = new Context({
    store,
    feed,
    live,
    clock,
    settings: { ...defaultSettings, ...settings },
    ...(random ? { random } : {}),
  })
  await graceForRunners(ctx)
  const stopSweeping = keepSweeping(ctx, onError)
  const dispatchUnknown: Gateway['dispatchUnknown'] = async (caller, op, input, options = {}) => {
    const spec = Object.hasOwn(contract, op) ? contract[op] : undefined
    if (!spec) throw new Fault('not_found', `There is no operation ${op}`)
    const roles: readonly string[] = spec.roles
    if (!caller && !roles.includes('anyone'))
      throw new Fault('unauthenticated', 'A credential is needed: Authorization: Bearer <token>')
    if (caller && !roles.includes(caller.role) && !roles.includes('anyone')) throw forbidden(caller, op)
    const parsed = spec.input.safeParse(input)
    if (!parsed.success) throw faultFromZod(parsed.error, op)
    const run = operations[op] as Operation<OperationName> // the key picks the operation and the schema alike
    return run(ctx, caller ?? nobody, parsed.data as ParsedInput<OperationName>, options) // parsed by that operation's schema
  }
  return {
    dispatchUnknown,
    dispatch: dispatchUnknown as Gateway['dispatch'], // the same function, typed by the operation's name
    subscribe: (caller, options, watcher) => watch(ctx, caller, options, watcher),
    authenticate: (secret, kind, via) => authenticate(ctx, secret, kind, via),
    ensureToken: (secret, role, name) => ensureToken(ctx, secret, role, name),
    redeemLink: code => redeemLink(ctx, code),
    close: async () => {
      await stopSweeping()
      ctx.close()
      feed.close()
    },
  }
}

const nobody: Caller = { role: 'agent', name: 'nobody', token: 'nobody', via: 'api' }

function forbidden(caller: Caller, op: OperationName): Fault {
  return caller.role === 'agent' && op.startsWith('answer')
    ? new Fault('forbidden', "An agent's credential never answers; a person has to")
    : new Fault('forbidden', `The credential of ${caller.role === 'agent' ? 'an' : 'a'} ${caller.role} may not ${op}`)
}

/** The gateway as a `Call`, for a runner in the same process: same gate, same operations, no wire. */
export function callAs(gateway: Gateway, caller: Caller): Call {
  return async (op, input, options) => (await gateway.dispatch(caller, op, input, options)).body
}

/** While the gateway was away nobody could renew: runners that live get one more term before they count as lost. */
async function graceForRunners(ctx: Context): Promise<void> {
  const runners = await ctx.store.find('runner', {})
  const leased = await Promise.all(runners.map(runner => ctx.store.count('session', { where: { runner: runner.id } })))
  await Promise.all(
    runners
      .filter((_, i) => (leased[i] ?? 0) > 0)
      .map(({ id }) =>
        ctx.commit({
          label: 'grace',
          reads: [{ table: 'runner', id }],
          decide: pen => {
            const row = pen.get('runner', id)
            const until = pen.now + ctx.settings.runnerTtlMs
            if (row && row.expiresAt < until) pen.put('runner', { ...row, expiresAt: until })
            return { status: 200, body: {} }
          },
        }),
      ),
  )
}

function keepSweeping(ctx: Context, onTrouble: (error: unknown) => void): () => Promise<void> {
  let cancel = () => {}
  let stopped = false
  let running: Promise<void> = Promise.resolve()
  const next = () => {
    if (stopped) return
    running = sweep(ctx).catch(onTrouble)
    void running.then(() => {
      if (!stopped) cancel = ctx.clock.after(ctx.settings.sweepMs, next, { background: true })
    })
  }
  next()
  return () => {
    stopped = true
    cancel()
    return running
  }
}

async function watch(
  ctx: Context,
  caller: Caller,
  { after, session }: SubscribeOptions,
  watcher: FrameListener,
): Promise<Subscription> {
  if (caller.role === 'agent' || session) {
    const row = session ? await ctx.store.get('session', session) : undefined
    if (!session) throw new Fault('forbidden', 'An agent watches its own session: name it')
    if (!row || !maySee(caller, row)) throw sessionNotFound(session)
  }
  const stop = ctx.feed.watch(watcher, session ?? null)
  try {
    // Live frames begin behind this place; whatever is read from here on can only be newer, and folding it twice changes nothing.
    const { seq, epoch } = ctx.feed.position
    const from = after !== undefined && Cursor.safeParse(after).success ? await seqOf(ctx.store, after) : undefined
    // A block that is left out is not known to this reader until it is finished.
    const { items: blocks } = await fillPage(ctx.live.all(session), snapshotBytes)
    const base = { cursor: formatCursor(epoch, seq), epoch, now: await ctx.store.now(), blocks: [...blocks] }
    const events = from === undefined ? null : await missedBetween(ctx, from, seq, session)
    if (events) {
      const missed = events.map(frameOf)
      const pending = await ctx.store.count('request', { where: pendingIn(session) })
      return { hello: { ...base, resume: 'ok', sessions: [], requests: [], pending, more: false }, missed, stop }
    }
    return { hello: { ...base, resume: 'gap', ...(await snapshot(ctx, caller, session)) }, missed: [], stop }
  } catch (error) {
    stop()
    throw error
  }
}

const snapshotBytes = { items: Number.POSITIVE_INFINITY, bytes: limits.snapshotMaxBytes }
const snapshotPage = { items: limits.snapshotMax, bytes: limits.snapshotMaxBytes }
const resumePage = { items: limits.resumeEventsMax, bytes: limits.resumeMaxBytes }

/** The events behind one place and up to another; null where they are too many, or too much. */
async function missedBetween(
  ctx: Context,
  from: number,
  to: number,
  session: SubscribeOptions['session'],
): Promise<readonly StoredEvent[] | null> {
  if (from > to || to - from > limits.resumeEventsMax) return null
  const upTo = async function* () {
    for await (const event of scanEvents(ctx.store, { after: from, ...(session ? { session } : {}) })) {
      if (event.seq > to) return
      yield event
    }
  }
  const { items, more } = await fillPage(upTo(), resumePage, eventBytes)
  return more ? null : items
}

async function snapshot(ctx: Context, caller: Caller, session: SubscribeOptions['session']) {
  const waiting = pendingIn(session)
  const one = session ? await ctx.store.get('session', session) : undefined
  const [requests, pending, sessions] = await Promise.all([
    fillPage(scan(ctx.store, 'request', { where: waiting }), snapshotPage),
    ctx.store.count('request', { where: waiting }),
    fillPage(session ? (one ? [one] : []) : scan(ctx.store, 'session', { newestFirst: true }), snapshotPage),
  ])
  return {
    sessions: await Promise.all(sessions.items.map(row => ctx.toSession(row))),
    requests: requests.items.map(row => toRequest(row, caller)),
    pending,
    more: requests.more || sessions.more,
  }
}
