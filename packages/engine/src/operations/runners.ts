/** Operations on runners: announce, renew, retire, list, and find work. One lease per runner covers all its sessions. */
import { externalInfo, Fault, limits, type ParsedInput, type Runner, type RunnerId } from '@holdpoint/protocol'
import { runnerAccessFault } from '../authorization.ts'
import type { ChangeBuilder } from '../change-builder.ts'
import type { Context, FolderState } from '../context.ts'
import type { Caller, DispatchOptions } from '../gateway.ts'
import { fillPage, scan } from '../paging.ts'
import type { Lease, RunnerRow, SessionRow } from '../rows.ts'
import { finishEndCommands, releaseSession, sessionReads } from '../session-transitions.ts'
import { toRunner } from '../wire-views.ts'

/** Returns whether a lease is still valid: the lease of an external agent or the runner has not expired, and no newer incarnation has replaced the runner. */
export function isLeaseLive(lease: Lease, runners: readonly RunnerRow[], now: number): boolean {
  if (lease.runner === null) return lease.expiresAt !== undefined && lease.expiresAt > now
  const runner = runners.find(known => known.id === lease.runner)
  return runner !== undefined && runner.incarnation === lease.incarnation && runner.expiresAt > now
}

/** Returns whether this runner may attach a session that no runner drives now: the runner drove it last, no runner has driven it yet, or its driver can move sessions between runners. */
export function mayTakeOver(runner: RunnerRow, session: Pick<SessionRow, 'driver' | 'runner'>): boolean {
  const driver = runner.drivers.find(known => known.name === session.driver)
  if (!driver) return false
  return session.runner === null || session.runner === runner.id || driver.capabilities.includes('portable')
}

/** The read of all runners. There are few runners, and the drivers they offer determine what a session supports. */
export const runnersRead = { table: 'runner', query: {} } as const

/** Returns a sentence that says why the driver does not support this mode, or null if the driver supports it or lists no modes. */
export function modeProblem(
  change: ChangeBuilder,
  session: Pick<SessionRow, 'driver' | 'runner'>,
  mode: string | undefined,
): string | null {
  if (mode === undefined) return null
  const runners = change.find('runner', runnersRead.query)
  const own = runners.filter(({ id }) => id === session.runner)
  const offering = own.length > 0 ? own : runners.filter(({ expiresAt }) => expiresAt > change.now)
  const offered = offering.flatMap(({ drivers }) => drivers).filter(({ name }) => name === session.driver)
  const modes = new Set(offered.flatMap(driver => driver.modes))
  if (modes.size === 0 || modes.has(mode)) return null
  return `"${mode}" is not a mode of ${session.driver}. Available: ${[...modes].join(', ')}`
}

async function liveRunners(ctx: Context): Promise<RunnerRow[]> {
  const now = await ctx.store.now()
  return (await ctx.store.find('runner', {})).filter(runner => runner.expiresAt > now)
}
export async function listDrivers(ctx: Context) {
  const items = (await liveRunners(ctx)).flatMap(runner =>
    runner.drivers.map(driver => ({ ...driver, runner: runner.id as RunnerId | null })),
  )
  return { status: 200, body: { items: [...items, { ...externalInfo, runner: null }], next: null } }
}
/** Checks a folder on the machine of this gateway. The gateway cannot look at the folders of other machines. */
export async function checkFolder(ctx: Context, _caller: Caller, { runner, path }: ParsedInput<'checkFolder'>) {
  const { machine } = ctx
  const isHere = machine?.runner === runner
  const state: FolderState = (isHere ? await machine.checkFolder?.(path) : undefined) ?? 'unknown'
  return { status: 200, body: { state } }
}
export async function listRunners(ctx: Context, caller: Caller) {
  const now = await ctx.store.now()
  const rows = await ctx.store.find('runner', { newestFirst: true, limit: limits.pageMax })
  const visible = rows.filter(({ id }) => runnerAccessFault(caller, id) === null)
  return { status: 200, body: { items: visible.map(row => toRunner(row, now)), next: null } }
}

export async function announceRunner(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'announceRunner'>,
  options: DispatchOptions,
) {
  const denied = runnerAccessFault(caller, input.id)
  if (denied) throw denied
  const reply = await ctx.commit<Runner>(
    {
      label: 'announce',
      reads: [{ table: 'runner', id: input.id }],
      decide: change => {
        const before = change.get('runner', input.id)
        const incarnation = (before?.incarnation ?? 0) + 1
        const expiresAt = change.now + ctx.settings.runnerTtlMs
        const row = change.put('runner', {
          ...input,
          incarnation,
          startedAt: change.now,
          expiresAt,
          ord: before?.ord ?? change.nextSeq,
        })
        return { status: 201, body: toRunner(row, change.now) }
      },
    },
    { caller, op: 'announceRunner', input, options },
  )
  await releaseLostSessions(ctx, input.id)
  return reply
}

export function renewRunner(ctx: Context, caller: Caller, input: ParsedInput<'renewRunner'>, options: DispatchOptions) {
  return changeRunner(ctx, caller, 'renewRunner', input, options, (row, now) => ({
    ...row,
    drivers: input.drivers ?? row.drivers,
    expiresAt: now + ctx.settings.runnerTtlMs,
  }))
}
export async function retireRunner(
  ctx: Context,
  caller: Caller,
  input: ParsedInput<'retireRunner'>,
  options: DispatchOptions,
) {
  const reply = await changeRunner(ctx, caller, 'retireRunner', input, options, (row, now) => ({
    ...row,
    expiresAt: now,
  }))
  await releaseLostSessions(ctx, input.id)
  return reply
}

function changeRunner(
  ctx: Context,
  caller: Caller,
  op: string,
  input: { readonly id: RunnerId; readonly incarnation?: number | undefined },
  options: DispatchOptions,
  apply: (row: RunnerRow, now: number) => RunnerRow,
) {
  const denied = runnerAccessFault(caller, input.id)
  if (denied) return Promise.reject(denied)
  return ctx.commit<Runner>(
    {
      label: op,
      reads: [{ table: 'runner', id: input.id }],
      decide: change => {
        const row = change.get('runner', input.id)
        if (!row) return new Fault('not_found', `There is no runner ${input.id}; announce it first`, { id: input.id })
        if (input.incarnation !== undefined && input.incarnation !== row.incarnation)
          return new Fault(
            'fenced',
            `A newer incarnation of runner ${input.id} replaced this one; stop driving its sessions`,
            {
              id: input.id,
            },
          )
        return { status: 200, body: toRunner(change.put('runner', apply(row, change.now)), change.now) }
      },
    },
    { caller, op, input, options },
  )
}

/** Releases every session whose lease by this runner is no longer valid. Each lease is checked again inside its own change. */
export async function releaseLostSessions(ctx: Context, id: RunnerId): Promise<void> {
  const sessions = await ctx.store.find('session', { where: { runner: id } })
  await Promise.all(sessions.map(session => releaseIfLost(ctx, session)))
}

/** Releases a session if its lease is no longer valid. */
export async function releaseIfLost(ctx: Context, { id }: SessionRow): Promise<void> {
  await ctx.commit({
    label: 'releaseSession',
    reads: [...sessionReads(id), { table: 'runner', query: {} }],
    decide: change => {
      const row = change.get('session', id)
      if (row?.lease && !isLeaseLive(row.lease, change.find('runner', {}), change.now)) {
        if (row.state === 'ended') finishEndCommands(change, row)
        else releaseSession(ctx, change, row, 'runnerLost')
      }
      return { status: 200, body: {} }
    },
  })
}

/** Lists the sessions that need a runner and that this runner can attach: its own sessions, sessions that no runner owns, and sessions of portable drivers. */
export async function listWork(ctx: Context, caller: Caller, input: ParsedInput<'listWork'>, options: DispatchOptions) {
  const denied = runnerAccessFault(caller, input.id)
  if (denied) throw denied
  const items = await ctx.longPoll(caller, options, 'work', input.wait ?? 0, async () => {
    const runner = await ctx.store.get('runner', input.id)
    if (!runner || runner.incarnation !== input.incarnation)
      throw new Fault(
        'fenced',
        `Runner ${input.id} is not announced, or a newer incarnation replaced it; announce it again`,
        {
          id: input.id,
        },
      )
    // Filter by driver in the query, so that sessions of other drivers do not use up the limit of the query.
    const ready = runner.drivers.filter(driver => driver.ready)
    const where = { needsRunner: 1, driver: ready.map(driver => driver.name) }
    const sessions = ready.length === 0 ? [] : await ctx.store.find('session', { where, limit: limits.pageMax })
    const attachable = sessions.filter(session => mayTakeOver(runner, session))
    const { items } = await fillPage(attachable, { items: limits.pageMax, bytes: limits.pageMaxBytes })
    return { ready: items.length > 0, value: await ctx.toSessions(items) }
  })
  return { status: 200, body: { items, next: null } }
}

/** Makes every lease last at least one full term from now, because nobody could renew a lease while the gateway was down. */
export async function extendLeases(ctx: Context): Promise<void> {
  await Promise.all([extendRunnerLeases(ctx), extendAgentLeases(ctx)])
}

async function extendAgentLeases(ctx: Context): Promise<void> {
  const until = (await ctx.store.now()) + ctx.settings.agentTtlMs
  for await (const { id } of scan(ctx, 'session', { atMost: { leaseExpiresAt: until } }))
    await ctx.commit({
      label: 'extendLease',
      reads: [{ table: 'session', id }],
      decide: change => {
        const row = change.get('session', id)
        const expiresAt = change.now + ctx.settings.agentTtlMs
        if (row?.lease?.expiresAt !== undefined && row.lease.expiresAt < expiresAt)
          change.put('session', { ...row, lease: { ...row.lease, expiresAt } })
        return { status: 200, body: {} }
      },
    })
}

async function extendRunnerLeases(ctx: Context): Promise<void> {
  const runners = await ctx.store.find('runner', {})
  const leased = await Promise.all(runners.map(runner => ctx.store.count('session', { where: { runner: runner.id } })))
  await Promise.all(
    runners
      .filter((_, i) => (leased[i] ?? 0) > 0)
      .map(({ id }) =>
        ctx.commit({
          label: 'extendLease',
          reads: [{ table: 'runner', id }],
          decide: change => {
            const row = change.get('runner', id)
            const until = change.now + ctx.settings.runnerTtlMs
            if (row && row.expiresAt < until) change.put('runner', { ...row, expiresAt: until })
            return { status: 200, body: {} }
          },
        }),
      ),
  )
}
