/** The exit codes of the commands. */
import { type Fault, type FaultCode, faultStatus } from '@holdpoint/protocol'

export const exitCodes = { failed: 1, usage: 2, notFound: 3, resolved: 4, noGateway: 5 } as const

/** Faults that mean the person typed something wrong, whether this program or the gateway noticed it. */
const usageFaults: ReadonlySet<FaultCode> = new Set(['bad_input', 'bad_json', 'answer_mismatch', 'digest_mismatch'])

export function exitCodeOf(fault: Fault): number {
  if (faultStatus[fault.code] === 404) return exitCodes.notFound
  if (fault.code === 'already_resolved') return exitCodes.resolved
  return usageFaults.has(fault.code) ? exitCodes.usage : exitCodes.failed
}
