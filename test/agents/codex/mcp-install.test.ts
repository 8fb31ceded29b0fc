/** `holdpoint mcp install codex` with the real Codex, which checks its settings and says what they contain. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways, holdpoint } from '../../support/gateway.ts'
import { OwnTerminal } from '../own-terminal.ts'

describe('holdpoint mcp install codex', () => {
  let own: OwnTerminal
  beforeAll(async () => {
    own = await OwnTerminal.start('codex')
  })
  afterAll(async () => {
    await own.close()
    await closeGateways()
  })

  it('Codex finds the server with a time limit of days after `holdpoint mcp install codex`, and its settings are as before after `holdpoint mcp remove codex`', async () => {
    const file = join(own.home, '.codex/config.toml')
    writeFileSync(file, `${readFileSync(file, 'utf8')}\n[mcp_servers.other]\ncommand = "other"\n`)
    for (const _ of ['once', 'twice']) expect((await own.holdpoint('mcp', 'install', 'codex')).code).toBe(0)
    expect(JSON.parse(await own.printed('mcp', 'get', 'holdpoint', '--json'))).toMatchObject({
      enabled: true,
      transport: { command: 'env', args: expect.arrayContaining([holdpoint, 'mcp']) },
      tool_timeout_sec: 604_800,
    })
    expect(await own.holdpoint('mcp', 'remove', 'codex')).toMatchObject({
      code: 0,
      out: 'Holdpoint is no longer among the MCP servers of codex.\n',
    })
    expect(await own.holdpoint('mcp', 'remove', 'codex')).toMatchObject({
      code: 0,
      out: 'Holdpoint is not among the MCP servers of codex.\n',
    })
    expect(await own.printed('mcp', 'list')).toMatch(/other/)
    expect(await own.printed('mcp', 'list')).not.toContain('holdpoint')
    expect(existsSync(file) && readFileSync(file, 'utf8')).not.toContain('tool_timeout_sec')
  })
})
