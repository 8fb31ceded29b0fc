/** Detects commits of other gateways through notifications, which may be lost, and by polling the head of the log. */
import type { GroupCommit } from './group-commit.ts'
import { type Database, databaseMaxMs, type Sql } from './postgres-connection.ts'

export interface OtherGateways {
  /** Must be called after each batch of this gateway, with the commit count before and after the batch. If the count before the batch is higher than the last known count, another gateway has committed. */
  onOwnBatch(before: number, after: number): void
  stop(): void
}

/** Notifies the listeners whenever the commit count in the head is higher than the last count that this gateway knows. */
export async function watchOtherGateways(
  database: Database,
  gatewayId: string,
  pollMs: number,
  groupCommit: GroupCommit,
): Promise<OtherGateways> {
  let knownCommits = 0
  /** Number of batches committed by this gateway. The result of a poll is ignored if a batch was committed during the poll. */
  let ownBatches = 0
  /** The pool whose connection listens; null if none does. */
  let listening: Sql | null = null
  let stopped = false

  function onCommitCount(commits: number): void {
    if (stopped || commits <= knownCommits) return
    knownCommits = commits
    groupCommit.notify(null)
  }
  async function listen(): Promise<void> {
    const { sql } = database
    if (listening === sql) return
    await sql.listen('holdpoint', payload => {
      const [by, commits] = payload.split(' ')
      if (by !== gatewayId) onCommitCount(Number(commits))
    })
    listening = sql
  }
  async function readCommitCount(): Promise<number> {
    const [head] = await database.run(
      databaseMaxMs.read,
      async sql => await sql<{ commits: number }[]>`SELECT commits FROM holdpoint.head`,
    )
    return head?.commits ?? 0
  }
  async function poll(): Promise<void> {
    const before = ownBatches
    try {
      const commits = await readCommitCount()
      if (before === ownBatches && !groupCommit.busy) onCommitCount(commits)
      await database.run(databaseMaxMs.read, listen)
    } catch {
      // The database is unreachable. The client listens again by itself only if it can reconnect immediately, so the next poll starts listening again.
      listening = null
    }
  }
  async function pollForever(): Promise<void> {
    await poll()
    if (!stopped) timer = setTimeout(() => void pollForever(), pollMs)
  }

  knownCommits = await readCommitCount()
  // If listening fails, the next poll tries again.
  await database.run(databaseMaxMs.read, listen).catch(() => {})
  let timer = setTimeout(() => void pollForever(), pollMs)
  return {
    onOwnBatch: (before, after) => {
      ownBatches++
      onCommitCount(before)
      knownCommits = Math.max(knownCommits, after)
    },
    stop: () => {
      stopped = true
      clearTimeout(timer)
    },
  }
}
