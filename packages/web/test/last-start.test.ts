import { describe, expect, it } from 'vitest'
import { readLast, writeLast } from '../src/frame/last-start.ts'

const fields = { driver: 'claude', cwd: ' /src ', mode: 'plan', model: '', prompt: 'Go' }

describe('the start of a session', () => {
  it('is remembered: agent, folder, and a mode for each agent', () => {
    const first = readLast(writeLast(readLast(null), fields))
    expect(first).toEqual({ driver: 'claude', cwd: '/src', modes: { claude: 'plan' } })
    const second = readLast(writeLast(first, { ...fields, driver: 'rehearsal', mode: 'default' }))
    expect(second.modes).toEqual({ claude: 'plan', rehearsal: 'default' })
    expect(readLast(writeLast(second, { ...fields, mode: '' })).modes).toEqual({ rehearsal: 'default' })
  })
  it('does not remember a mode in which nothing is asked', () => {
    expect(readLast(writeLast(readLast(null), { ...fields, mode: 'bypassPermissions' })).modes).toEqual({})
  })
  it.each(['', 'null', '7', '{"driver":7,"modes":{"a":1}}', '[]'])('begins anew where %j was kept', kept => {
    expect(readLast(kept)).toEqual({ driver: '', cwd: '', modes: {} })
  })
})
