/** The operations for runners: announcing a runner, renewing its leases, finding work and retiring the runner. */
import { z } from 'zod'
import { RunnerId } from './ids.ts'
import { limits } from './limits.ts'
import { noInput, type Operation, pageOf, waitParam } from './operation.ts'
import { DriverInfo, Runner, Session } from './session.ts'

const drivers = z.array(DriverInfo).max(limits.optionsMax)
const incarnation = 'The incarnation that `announceRunner` returned.'

export const runnerOps = {
  announceRunner: {
    method: 'POST',
    path: '/runners',
    status: 201,
    summary: 'Announce a runner that has started. Leases from earlier starts of this runner become void.',
    input: z.strictObject({
      id: RunnerId,
      name: z.string().max(limits.nameMax).describe('The name of the runner, usually its machine.'),
      drivers: drivers.describe('The drivers that the runner offers.'),
    }),
    output: Runner,
  },
  renewRunner: {
    method: 'POST',
    path: '/runners/:id/renew',
    summary: 'Renew all leases of a runner, and report changed drivers.',
    faults: ['not_found', 'fenced'],
    input: z.strictObject({
      id: RunnerId,
      incarnation: z.int().describe(incarnation),
      drivers: drivers.optional().describe('The drivers that the runner offers, if they have changed.'),
    }),
    output: Runner,
  },
  retireRunner: {
    method: 'POST',
    path: '/runners/:id/retire',
    summary: 'Remove a runner that has stopped. The runner’s leases become void.',
    faults: ['not_found', 'fenced'],
    input: z.strictObject({ id: RunnerId, incarnation: z.int().optional().describe(incarnation) }),
    output: Runner,
  },
  listWork: {
    method: 'GET',
    path: '/runners/:id/work',
    summary: 'List the sessions that need this runner. With `wait`, the call waits until there is such a session.',
    faults: ['fenced'],
    input: z.strictObject({
      id: RunnerId,
      incarnation: z.coerce.number().int().describe(incarnation),
      wait: waitParam,
    }),
    output: pageOf(Session),
  },
  listRunners: {
    method: 'GET',
    path: '/runners',
    summary: 'List the runners, including runners that stopped recently.',
    input: noInput,
    output: pageOf(Runner),
  },
} as const satisfies Record<string, Operation>
