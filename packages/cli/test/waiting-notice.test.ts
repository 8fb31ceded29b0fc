/** Tests that a slow command says what it is waiting for: once, on stderr, and not with --json. */
import type { Call } from '@holdpoint/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { closeGateways, startGateway } from '../../../test/support/gateway.ts'
import { callWithNotice, withNotice } from '../src/output/waiting-notice.ts'
import { environmentFor, runCliAgainst } from './support/cli-process.ts'
import { closeTerminals, Terminal } from './support/terminal.ts'

describe('a command that waits', () => {
  const { isTTY } = process.stderr
  let written: string[]
  beforeEach(() => {
    vi.useFakeTimers()
    written = []
    vi.spyOn(process.stderr, 'write').mockImplementation(text => written.push(String(text)) > 0)
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
    process.stderr.isTTY = isTTY
  })
  const work = (ms: number) => new Promise<string>(resolve => setTimeout(() => resolve('done'), ms))

  it.each([
    ['a terminal', true, 900, 0],
    ['a terminal', true, 60_000, 1],
    ['a script', false, 4900, 0],
    ['a script', false, 60_000, 1],
  ])(
    'a command that waits in %s (is a terminal: %s) for %i ms prints %i lines',
    async (_where, isTerminal, ms, lines) => {
      process.stderr.isTTY = isTerminal
      const result = withNotice('down', work(ms))
      await vi.advanceTimersByTimeAsync(ms)
      expect(await result).toBe('done')
      await vi.advanceTimersByTimeAsync(60_000)
      expect(written).toHaveLength(lines)
      if (lines > 0) expect(written[0]).toBe('holdpoint: Waiting for the gateway and its runner to stop…\n')
    },
  )
  it('a command that waits fails with the error of the call, and prints nothing afterwards', async () => {
    const failed = withNotice('down', Promise.reject(new Error('broken')))
    await expect(failed).rejects.toThrow('broken')
    await vi.advanceTimersByTimeAsync(60_000)
    expect(written).toEqual([])
  })
  it('a command that waits prints a line if the gateway does not reply, but not if the call waits for a person', async () => {
    process.stderr.isTTY = true
    const call = callWithNotice((() => work(3000)) as unknown as Call) // a gateway that takes long for everything
    void call('getRequest', { id: 'req_x' as never, wait: 1000 })
    await vi.advanceTimersByTimeAsync(3000)
    expect(written).toEqual([])
    void call('whoAmI', {})
    await vi.advanceTimersByTimeAsync(3000)
    expect(written).toEqual(['holdpoint: Waiting for the gateway to answer… (Ctrl+C to stop waiting)\n'])
  })
})

describe('a command whose gateway is stopped', () => {
  afterEach(async () => {
    closeTerminals()
    await closeGateways()
  })
  it('a command whose gateway is stopped says in a terminal that it waits for the gateway, but not with --json', async () => {
    const gateway = await startGateway({ runner: 'none' })
    process.kill(gateway.pid, 'SIGSTOP')
    const terminal = new Terminal(['inbox'], { env: environmentFor(gateway) as Record<string, string> }) // has only texts
    await terminal.waitUntil(() => terminal.raw.includes('Waiting for the gateway to answer'), 'the notice')
    const { out, err } = await runCliAgainst(gateway, ['inbox', '--json'])
    expect(out).toBe('')
    expect(err).not.toContain('Waiting')
    process.kill(gateway.pid, 'SIGCONT')
  })
})
