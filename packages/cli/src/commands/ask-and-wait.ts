/** A script that stops and asks: a session of its own with one ask, over when it is answered, withdrawn when the script is told to stop. */

import { randomUUID } from 'node:crypto'
import { constants } from 'node:os'
import { connectAgent, type ExternalAgent, type HandedAnswer } from '@holdpoint/drivers'
import { type Ask, Fault, limits, messageOf } from '@holdpoint/protocol'
import { followingGateway, type GatewayAddress } from '../gateway-client/gateway-client.ts'
import { err } from '../output/output.ts'
import { row, trusted, untrusted } from '../output/span.ts'

export const exitCodes = { yes: 0, no: 1, nobody: 124 } as const

export interface AskAndWaitOptions {
  readonly address: GatewayAddress
  /** What people know the script by. */
  readonly as: string
  readonly ask: Ask
  readonly deadlineMs?: number | undefined
}
/** What the script makes of the answer: its exit code. */
export type OnAnswer = (settled: HandedAnswer, agent: ExternalAgent) => Promise<number>

/** Leaving in good order takes a gateway; one that is away is not waited for longer than this. */
const cleanUpMaxMs = 3000

export async function askAndWait({ address, as, ask, deadlineMs }: AskAndWaitOptions, act: OnAnswer): Promise<number> {
  const { call } = followingGateway(address)
  await call('whoAmI', {})
  const signals = listenForSignals()
  const agent = await connectAgent({ call, title: as.slice(0, limits.titleMax), cwd: process.cwd() })
  const leave = (reason: 'done' | 'stopped') => waitAtMost(cleanUpMaxMs, agent.end({ reason }))
  try {
    const key = randomUUID()
    const deadline = deadlineMs === undefined ? {} : { deadlineMs, onDeadline: 'deny' as const }
    const [asked] = await agent.session.open([{ ask, key, ...deadline }])
    if (!asked) throw new Error('one ask opens one request')
    const { id } = asked.request
    err.print(row(trusted(`Waiting for a person: holdpoint show ${id}`, 'quiet')))
    const stopFor = async (signal: NodeJS.Signals, settling: Promise<void>) => {
      await waitAtMost(cleanUpMaxMs, settling)
      await leave('stopped')
      return exitForSignal(signal)
    }
    const early = await Promise.race([asked.resolved().then(() => null), signals.heard])
    if (early) return await stopFor(early, asked.withdraw())
    const handing = asked.hand()
    const late = await Promise.race([handing.then(() => null), signals.heard])
    // It was answered, and nothing came of it: the record shall say so.
    if (late)
      return await stopFor(
        late,
        handing.then(settled => settled.dropped()),
      )
    // Signals are listened for to the end: were they let go here, one could fall between this and the command's own.
    return await act(await handing, agent)
  } finally {
    await leave('done')
    signals.stop()
  }
}

/** What was answered has come to its end here; not for ever, since signals are held back meanwhile. */
export function reportTaken(settled: HandedAnswer): Promise<void> {
  return waitAtMost(cleanUpMaxMs, settled.taken())
}

/** The exit code for what was not allowed, with a sentence on stderr. */
export function reportRefusal(settled: HandedAnswer): number {
  switch (settled.kind) {
    case 'nobody':
      err.print(row(trusted('Nobody answered in time.')))
      return exitCodes.nobody
    case 'agent':
      err.print(row(trusted(`Nobody answered: the request was ended first (${settled.reason}).`)))
      return exitCodes.no
    case 'unknown':
      throw new Error('an ask of this process cannot have been handed to another')
    case 'answer': {
      const { answer } = settled
      const reason = answer.kind === 'deny' || answer.kind === 'decline' ? answer.reason : undefined
      const said = answer.kind === 'deny' ? 'Denied' : 'Declined'
      if (reason === undefined) err.print(row(trusted(`${said}.`)))
      else err.print(row(trusted(`${said}: `), untrusted(reason.trim())))
      return exitCodes.no
    }
  }
}

/** Handed to the shell as it would see it from any program that a signal ended. A long poll may still hang: it is not waited for. */
function exitForSignal(signal: NodeJS.Signals): never {
  process.exit(128 + constants.signals[signal])
}

function listenForSignals() {
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  let hear = (_: NodeJS.Signals) => {}
  const heard = new Promise<NodeJS.Signals>(resolve => {
    hear = resolve
  })
  // Once: a second one ends the program as it would have without us.
  for (const name of names) process.once(name, hear)
  return {
    heard,
    stop: () => {
      for (const name of names) process.off(name, hear)
    },
  }
}

/** Does not fail: a session that is over already, or a gateway that is away, is no reason to. */
export async function waitAtMost(maxMs: number, doing: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise(resolve => {
    timer = setTimeout(resolve, maxMs)
  })
  const failed = (error: unknown) => {
    if (!(error instanceof Fault)) err.print(row(untrusted(messageOf(error))))
  }
  await Promise.race([doing.catch(failed), late])
  clearTimeout(timer)
}
