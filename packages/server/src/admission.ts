/** The limits per credential that hold for all transports of one server: connections, sockets, operations, the size of requests, and work in progress. */
import { Quota, type QuotaCaller } from '@holdpoint/engine'
import { quotas } from '@holdpoint/protocol'
import { Slots } from './slots.ts'

export class Admission {
  readonly connections = new Quota(quotas.connections, {
    unit: 'open connections',
    advice: 'Close some connections and try again.',
  })
  readonly sockets = new Quota(quotas.sockets, {
    unit: 'open sockets',
    advice: 'Close some sockets and connect again.',
  })
  readonly operations = new Quota(quotas.operations, {
    unit: 'operations in progress',
    advice: 'Wait for replies before you send more.',
  })
  readonly requestBytes = new Quota(quotas.requestBytes, {
    unit: 'bytes of requests in progress',
    advice: 'Wait for replies before you send more.',
  })
  readonly slots = new Slots()
}

/** All callers without a credential count as one. */
export const nobody: QuotaCaller = { role: 'agent', token: 'nobody' }
