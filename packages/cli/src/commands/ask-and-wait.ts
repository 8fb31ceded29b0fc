/** Shared by `ask` and `guard`: opens a session with one request, waits for the answer, and withdraws the request if the script is stopped. */
import { randomUUID } from 'node:crypto'
import { constants } from 'node:os'
import { connectAgent, type ExternalAgent, type HandedAnswer } from '@holdpoint/client'
import { type Ask, Fault, limits, messageOf } from '@holdpoint/protocol'
import { type GatewayAddress, requestLink, requireGateway } from '../gateway-client/gateway-client.ts'
import { err } from '../output/output.ts'
import { row, trusted, untrusted, untrustedCode } from '../output/span.ts'
import { watchSignals } from '../signals.ts'
import { scriptTexts } from './texts.ts'

export const askExitCodes = { yes: 0, no: 1, nobody: 124 } as const

export interface AskAndWaitOptions {
  readonly address: GatewayAddress
  /** The name of the script, shown to people. */
  readonly as: string
  readonly ask: Ask
  readonly deadlineMs?: number | undefined
}
/** Acts on the answer and returns the exit code. */
export type OnAnswer = (handed: HandedAnswer, agent: ExternalAgent) => Promise<number>

/** The longest time to wait for the gateway while cleaning up. The script must exit even if the gateway is unreachable. */
const cleanUpMaxMs = 3000

export async function askAndWait(
  { address, as, ask, deadlineMs }: AskAndWaitOptions,
  onAnswer: OnAnswer,
): Promise<number> {
  // The session's calls are retried by AgentSession.
  const { url, call } = requireGateway(address, { attempts: 1 })
  await call('whoAmI', {})
  // If the same signal arrives a second time, it ends the process as usual, even if the gateway does not respond.
  const signals = watchSignals('SIGINT', 'SIGTERM', 'SIGHUP')
  const agent = await connectAgent({ call, title: as.slice(0, limits.titleMax).toWellFormed(), cwd: process.cwd() })
  const endSession = (reason: 'done' | 'stopped') => waitAtMost(cleanUpMaxMs, agent.end({ reason }))
  try {
    const key = randomUUID()
    const deadline = deadlineMs === undefined ? {} : { deadlineMs, onDeadline: 'deny' as const }
    const [opened] = await agent.session.open([{ ask, key, ...deadline }])
    if (!opened) throw new Error('one ask opens one request')
    const { id } = opened.request
    err.print(row(trusted(scriptTexts.waiting(id), 'quiet')))
    err.printLines([[trusted(scriptTexts.onPage, 'quiet'), untrustedCode(requestLink(url, id), 'quiet')]])
    const stopFor = async (signal: NodeJS.Signals, cleanUp: Promise<void>) => {
      await waitAtMost(cleanUpMaxMs, cleanUp)
      await endSession('stopped')
      return exitForSignal(signal)
    }
    const beforeAnswer = await Promise.race([opened.resolved().then(() => null), signals.received])
    if (beforeAnswer) return await stopFor(beforeAnswer, opened.withdraw())
    const handing = opened.hand()
    const duringHandover = await Promise.race([handing.then(() => null), signals.received])
    // The request was answered, but the script stops without acting on the answer, and the audit log must say so.
    if (duringHandover)
      return await stopFor(
        duringHandover,
        handing.then(handed => handed.dropped()),
      )
    // Keep listening for signals: otherwise, a signal that arrives before `guard` installs its own handlers would end the process.
    return await onAnswer(await handing, agent)
  } finally {
    await endSession('done')
    signals.stop()
  }
}

/** Reports that the answer has arrived. Waits only for a limited time, because this process ignores the first signal while it waits. */
export function reportTaken(handed: HandedAnswer): Promise<void> {
  return waitAtMost(cleanUpMaxMs, handed.taken())
}

/** Prints why the request was not allowed or not answered, and returns the exit code. */
export function reportRefusal(handed: HandedAnswer): number {
  switch (handed.kind) {
    case 'nobody':
      err.print(row(trusted(scriptTexts.nobodyAnswered)))
      return askExitCodes.nobody
    case 'agent':
      err.print(row(trusted(scriptTexts.cancelled(handed.reason))))
      return askExitCodes.no
    case 'unknown':
      throw new Error('a request of this process cannot have been handed to another process')
    case 'answer': {
      const { answer } = handed
      const reason = answer.kind === 'deny' || answer.kind === 'decline' ? answer.reason : undefined
      const verb = answer.kind === 'deny' ? scriptTexts.denied : scriptTexts.declined
      if (reason === undefined) err.print(row(trusted(`${verb}.`)))
      else err.print(row(trusted(`${verb}: `), untrusted(reason.trim())))
      return askExitCodes.no
    }
  }
}

/** Exits with the code that shells use for a program ended by this signal. Does not wait for a long poll that may still be open. */
function exitForSignal(signal: NodeJS.Signals): never {
  process.exit(128 + constants.signals[signal])
}

/** Waits for `work`, but at most `maxMs`. Never rejects, because an ended session or an unreachable gateway must not change the exit code. */
export async function waitAtMost(maxMs: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise(resolve => {
    timer = setTimeout(resolve, maxMs)
  })
  const onError = (error: unknown) => {
    if (!(error instanceof Fault)) err.print(row(untrusted(messageOf(error))))
  }
  await Promise.race([work.catch(onError), timeout])
  clearTimeout(timer)
}
