import { describe, expect, it } from 'vitest'
import { readDefaults, writeDefaults } from '../../src/screens/shell/new-session/new-session-defaults.ts'

const fields = { driver: 'claude', cwd: ' /src ', mode: 'plan', model: '', prompt: 'Go' }

describe('the defaults of a new session', () => {
  it('the defaults of a new session remember the driver, the folder, and a mode per driver', () => {
    const first = readDefaults(writeDefaults(readDefaults(null), fields))
    expect(first).toEqual({ driver: 'claude', cwd: '/src', modes: { claude: 'plan' } })
    const second = readDefaults(writeDefaults(first, { ...fields, driver: 'rehearsal', mode: 'default' }))
    expect(second.modes).toEqual({ claude: 'plan', rehearsal: 'default' })
    expect(readDefaults(writeDefaults(second, { ...fields, mode: '' })).modes).toEqual({ rehearsal: 'default' })
  })
  it('the defaults of a new session do not remember a mode that skips all approvals', () => {
    expect(readDefaults(writeDefaults(readDefaults(null), { ...fields, mode: 'bypassPermissions' })).modes).toEqual({})
  })
  it.each(['', 'null', '7', '{"driver":7,"modes":{"a":1}}', '[]'])(
    'the defaults of a new session are empty if the stored value is %j, which is invalid',
    stored => {
      expect(readDefaults(stored)).toEqual({ driver: '', cwd: '', modes: {} })
    },
  )
})
