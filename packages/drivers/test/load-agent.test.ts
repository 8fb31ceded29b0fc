import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadAgent } from '../src/index.ts'

describe('loadAgent', () => {
  async function load(source: string, timeoutMs: number) {
    const folder = await mkdtemp(join(tmpdir(), 'holdpoint-test-'))
    const file = join(folder, 'agent.mjs')
    try {
      await writeFile(file, source)
      return await loadAgent(file, timeoutMs)
    } finally {
      await rm(folder, { recursive: true })
    }
  }

  it('loadAgent loads the default export of a module', async () => {
    const agent = await load(`export default { name: 'mine', title: 'Mine', async *run() { yield 'hi' } }`, 60_000)
    expect(agent.name).toBe('mine')
  })

  it.each([
    ['that does not exist', null, 'cannot be loaded'],
    ['with a syntax error', 'export default {', 'cannot be loaded'],
    ['without a default export', 'export const x = 1', 'no default export'],
    ['whose default export is not an agent', 'export default 7', 'name'],
    ['whose agent has no run function', `export default { name: 'a', title: 'A' }`, 'run'],
    ['whose title is too long', `export default { name: 'a', title: 'A'.repeat(400), run() {} }`, 'title'],
    ['whose modes are not names', `export default { name: 'a', title: 'A', modes: [7], run() {} }`, 'modes'],
    [
      'that never finishes loading',
      'await new Promise(() => setInterval(() => {}, 60_000).unref())',
      'did not finish loading within 200 ms',
    ],
  ])('loadAgent refuses a module %s, and explains why', async (_, source, why) => {
    const timeoutMs = why.includes('200 ms') ? 200 : 60_000
    const loading = source === null ? loadAgent('/nowhere/agent.mjs') : load(source, timeoutMs)
    await expect(loading).rejects.toMatchObject({ code: 'bad_input', message: expect.stringContaining(why) })
  })
})
