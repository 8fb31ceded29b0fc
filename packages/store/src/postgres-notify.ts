/** How a gateway learns that another one has committed: a notification, which may be lost, and a look at the head, which is not. */
import type { GroupCommit } from './group-commit.ts'
import type { Sql } from './postgres-connection.ts'

export interface OtherGateways {
  /** A batch of our own went by: what was committed before it and not by us is news. */
  passed(before: number, after: number): void
  stop(): void
}

/** Commits are counted in the head. Whoever sees a count that is not the last one it knew has something to look at. */
export async function watchOtherGateways(
  sql: Sql,
  signed: string,
  pollMs: number,
  batches: GroupCommit,
): Promise<OtherGateways> {
  let known = 0
  /** Grows with every batch of our own: a look at the head that was overtaken by one says nothing. */
  let turns = 0
  let listening = false
  let stopped = false

  function learn(commits: number): void {
    if (stopped || commits <= known) return
    known = commits
    batches.tell(null)
  }
  async function listen(): Promise<void> {
    if (listening) return
    await sql.listen('holdpoint', payload => {
      const [by, commits] = payload.split(' ')
      if (by !== signed) learn(Number(commits))
    })
    listening = true
  }
  async function look(): Promise<number> {
    const [head] = await sql<{ commits: number }[]>`SELECT commits FROM holdpoint.head`
    return head?.commits ?? 0
  }
  async function poll(): Promise<void> {
    const turn = turns
    try {
      const commits = await look()
      if (turn === turns && !batches.busy) learn(commits)
      await listen()
    } catch {
      // The database is away; the client listens anew by itself only where it could connect at once.
      listening = false
    }
  }
  async function pollForever(): Promise<void> {
    await poll()
    if (!stopped) timer = setTimeout(() => void pollForever(), pollMs)
  }

  known = await look()
  await listen().catch(() => {})
  let timer = setTimeout(() => void pollForever(), pollMs)
  return {
    passed: (before, after) => {
      turns++
      learn(before)
      known = Math.max(known, after)
    },
    stop: () => {
      stopped = true
      clearTimeout(timer)
    },
  }
}
