import { describe, expect, it } from 'vitest'
import { readDefaults, writeDefaults } from '../src/screens/shell/new-session/new-session-defaults.ts'

const fields = { driver: 'claude', cwd: ' /src ', mode: 'plan', model: '', prompt: 'Go' }

describe('the start of a session', () => {
  it('is remembered: agent, folder, and a mode for each agent', () => {
    const first = readDefaults(writeDefaults(readDefaults(null), fields))
    expect(first).toEqual({ driver: 'claude', cwd: '/src', modes: { claude: 'plan' } })
    const second = readDefaults(writeDefaults(first, { ...fields, driver: 'rehearsal', mode: 'default' }))
    expect(second.modes).toEqual({ claude: 'plan', rehearsal: 'default' })
    expect(readDefaults(writeDefaults(second, { ...fields, mode: '' })).modes).toEqual({ rehearsal: 'default' })
  })
  it('does not remember a mode in which nothing is asked', () => {
    expect(readDefaults(writeDefaults(readDefaults(null), { ...fields, mode: 'bypassPermissions' })).modes).toEqual({})
  })
  it.each(['', 'null', '7', '{"driver":7,"modes":{"a":1}}', '[]'])('begins anew where %j was kept', kept => {
    expect(readDefaults(kept)).toEqual({ driver: '', cwd: '', modes: {} })
  })
})
