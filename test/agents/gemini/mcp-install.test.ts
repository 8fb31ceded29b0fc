/** `holdpoint mcp install gemini` with the real Gemini, which starts the servers of its settings to list them. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways } from '../../support/gateway.ts'
import { OwnTerminal } from '../own-terminal.ts'

describe('holdpoint mcp install gemini', () => {
  let own: OwnTerminal
  beforeAll(async () => {
    own = await OwnTerminal.start('gemini')
  })
  afterAll(async () => {
    await own.close()
    await closeGateways()
  })

  it('Gemini connects to the server after `holdpoint mcp install gemini`, with a time limit of days, and no longer after `holdpoint mcp remove gemini`', async () => {
    for (const _ of ['once', 'twice']) expect((await own.holdpoint('mcp', 'install', 'gemini')).code).toBe(0)
    const { mcpServers } = JSON.parse(readFileSync(join(own.home, '.gemini/settings.json'), 'utf8'))
    expect(mcpServers.holdpoint).toMatchObject({ command: 'env', timeout: 604_800_000 })
    expect(await own.printed('mcp', 'list')).toMatch(/holdpoint: .*mcp \(stdio\) - Connected/)
    expect(await own.holdpoint('mcp', 'remove', 'gemini')).toMatchObject({
      code: 0,
      out: 'Holdpoint is no longer among the MCP servers of gemini.\n',
    })
    expect(await own.holdpoint('mcp', 'remove', 'gemini')).toMatchObject({
      code: 0,
      out: 'Holdpoint is not among the MCP servers of gemini.\n',
    })
    expect(await own.printed('mcp', 'list')).not.toContain('holdpoint:')
  })
})
