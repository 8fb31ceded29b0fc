/** Tests the message for a caller that has used up its share of a server. */
import type { QuotaCaller } from '@holdpoint/engine'
import { quotas } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { Admission, nobody } from '../src/admission.ts'

describe('a caller at the limit of a share', () => {
  it.each([
    ['connections', 'open connections. Close some connections and try again.'],
    ['sockets', 'open sockets. Close some sockets and connect again.'],
    ['operations', 'operations in progress. Wait for replies before you send more.'],
    ['requestBytes', 'bytes of requests in progress. Wait for replies before you send more.'],
  ] as const)('a caller who has used up the share of %s gets an error that says what to do', (name, advice) => {
    const quota = new Admission()[name]
    const agent: QuotaCaller = { role: 'agent', token: 'tok_agent' }
    quota.take(agent, quotas[name].agent)
    expect(() => quota.take(agent)).toThrow(`reached its limit of ${quotas[name].agent} ${advice}`)
    const runner: QuotaCaller = { role: 'runner', token: 'tok_runner' }
    quota.take(runner, quotas[name].runner)
    expect(() => quota.take(runner)).toThrow(`reached its limit of ${quotas[name].runner} ${advice}`)
  })
})

it('all callers without a credential together may use as much as one agent, and reduce no agent’s share', () => {
  const { requestBytes } = new Admission()
  requestBytes.take(nobody, quotas.requestBytes.agent)
  expect(() => requestBytes.take(nobody)).toThrow(/reached its limit/)
  requestBytes.take({ role: 'agent', token: '' }, quotas.requestBytes.agent)
})
