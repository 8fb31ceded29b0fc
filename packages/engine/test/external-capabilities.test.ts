/** Tests which capabilities an external agent can name for its session, and which gaps of watchers follow from them. */
import type { Capability } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { expectFault, openFixture } from './gateway-fixture.ts'

describe('the capabilities of an external session', () => {
  it('a session of an external agent has each capability that the agent names once, or the default capabilities if the agent names none', async () => {
    const fixture = await openFixture()
    const start = (capabilities?: Capability[]) =>
      fixture.externalAgent('startSession', { driver: 'external', capabilities })
    expect((await start(['approvals', 'checksEveryTool', 'approvals'])).capabilities).toEqual([
      'approvals',
      'checksEveryTool',
    ])
    expect((await start()).capabilities).toEqual(expect.arrayContaining(['messages', 'interrupt']))
    expect((await start()).capabilities).not.toContain('checksEveryTool')
  })

  it('an external agent cannot name a capability that only drivers have, and a session of a driver cannot name any', async () => {
    const fixture = await openFixture()
    for (const capability of ['resumable', 'sharedTerminal', 'attachments'] as const)
      await expectFault(
        fixture.externalAgent('startSession', { driver: 'external', capabilities: [capability] }),
        'bad_input',
      )
    await expectFault(fixture.person('startSession', { driver: 'test', capabilities: ['approvals'] }), 'bad_input')
  })
})
