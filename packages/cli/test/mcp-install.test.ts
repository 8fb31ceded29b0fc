/** `holdpoint mcp install` and `remove`: opencode's settings, and agents that are not installed. Tests with real agents are in test/agents. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cleanEnvironment, holdpoint } from '../../../test/support/gateway.ts'
import { runCli } from './support/cli-process.ts'

describe('holdpoint mcp install', () => {
  let folder: string
  let file: string
  let env: NodeJS.ProcessEnv
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'holdpoint-mcp-install-'))
    file = join(folder, 'config/opencode/opencode.json')
    env = { ...cleanEnvironment(), XDG_CONFIG_HOME: join(folder, 'config'), HOLDPOINT_HOME: join(folder, 'home') }
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))
  // Run a process of its own, because `install` writes the command line of its own process into the settings.
  const mcp = (...words: string[]) => runCli(['mcp', ...words], { env, cwd: folder, input: '' })
  const write = (text: string) => {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }

  it('holdpoint mcp install adds the server to the settings of opencode, and removing the server restores the settings', async () => {
    const text =
      '{\n  "theme": "dark",\n  "mcp": {\n    "other": {\n      "type": "local"\n    }\n  },\n  "model": "a/b"\n}\n'
    write(text)
    for (const _ of ['once', 'twice']) expect((await mcp('install', 'opencode')).code).toBe(0)
    const settings = JSON.parse(readFileSync(file, 'utf8'))
    const command = ['env', `HOLDPOINT_HOME=${join(folder, 'home')}`, process.execPath, holdpoint, 'mcp']
    expect(settings.mcp).toEqual({ other: { type: 'local' }, holdpoint: { type: 'local', command, enabled: true } })
    expect(Object.keys(settings)).toEqual(['theme', 'mcp', 'model'])
    expect((await mcp('remove', 'opencode')).code).toBe(0)
    expect(readFileSync(file, 'utf8')).toBe(text)
  })

  it('holdpoint mcp remove creates no settings of opencode, and says that there was nothing to remove', async () => {
    const { code, out } = await mcp('remove', 'opencode')
    expect([code, out]).toEqual([0, expect.stringContaining('is not among the MCP servers')])
    expect(existsSync(file)).toBe(false)
  })

  it('holdpoint mcp install does not touch settings of opencode that may contain comments', async () => {
    write('{}')
    writeFileSync(join(dirname(file), 'opencode.jsonc'), '// mine\n{}')
    const { code, err } = await mcp('install', 'opencode')
    expect(code).not.toBe(0)
    expect(err).toContain('opencode.jsonc may contain comments')
    expect(readFileSync(file, 'utf8')).toBe('{}')
  })

  it('holdpoint mcp install says what to do if the agent is not installed', async () => {
    env = { ...env, HOLDPOINT_CODEX: join(folder, 'nothing') }
    const { code, err } = await mcp('install', 'codex')
    expect(code).not.toBe(0)
    expect(err).toContain('HOLDPOINT_CODEX')
    expect(existsSync(file)).toBe(false)
  })

  it('holdpoint mcp install names the agents that it knows if an unknown agent is given', async () => {
    const { code, err } = await mcp('install', 'emacs')
    expect(code).toBe(2)
    expect(err).toContain('claude, codex, gemini, opencode')
  })
})
