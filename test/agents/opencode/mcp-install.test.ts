/** `holdpoint mcp install opencode` with the real opencode, which starts the servers of its settings to list them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways } from '../../support/gateway.ts'
import { OwnTerminal } from '../own-terminal.ts'

describe('holdpoint mcp install opencode', () => {
  let own: OwnTerminal
  beforeAll(async () => {
    own = await OwnTerminal.start('opencode')
  })
  afterAll(async () => {
    await own.close()
    await closeGateways()
  })

  it('opencode connects to the server after `holdpoint mcp install opencode`, and no longer after `holdpoint mcp remove opencode`', async () => {
    for (const _ of ['once', 'twice']) expect((await own.holdpoint('mcp', 'install', 'opencode')).code).toBe(0)
    expect(await own.printed('mcp', 'list')).toMatch(/holdpoint .*connected/)
    expect(await own.holdpoint('mcp', 'remove', 'opencode')).toMatchObject({
      code: 0,
      out: 'Holdpoint is no longer among the MCP servers of opencode.\n',
    })
    expect(await own.holdpoint('mcp', 'remove', 'opencode')).toMatchObject({
      code: 0,
      out: 'Holdpoint is not among the MCP servers of opencode.\n',
    })
    expect(await own.printed('mcp', 'list')).not.toContain('holdpoint')
  })
})
