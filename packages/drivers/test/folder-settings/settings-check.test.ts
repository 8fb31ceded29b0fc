/** Tests which files count as settings of a folder for each agent, when an agent is refused, and what the person is told. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { customProfile } from '../../src/acp/profiles.ts'
import { findProjectSettings, type ProjectSettings } from '../../src/folder-settings/project-settings.ts'
import { settingsRefusal, withSettingsCheck } from '../../src/folder-settings/settings-check.ts'
import { personalSettings, type SettingsAgent, settingsAgents } from '../../src/folder-settings/settings-lists.ts'
import type { AgentConnection, AgentOutput, ConnectionOptions } from '../../src/session/agent-connection.ts'

let home: string
let project: string
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'holdpoint-folder-settings-')))
  project = join(home, 'code', 'project')
  mkdirSync(project, { recursive: true })
})
afterEach(() => rmSync(home, { recursive: true }))

function write(path: string, text = '{}', root = project): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}
const find = (agent: SettingsAgent, cwd = project) =>
  findProjectSettings(agent, cwd, personalSettings(agent, { HOME: home }))
const refusal = (agents: readonly SettingsAgent[], trusts?: (settings: ProjectSettings) => boolean) =>
  settingsRefusal({ title: 'The agent', agents, cwd: project, env: { HOME: home }, trusts })

describe('settings of a folder', () => {
  it.each<readonly [SettingsAgent, readonly string[]]>([
    ['claude', ['.mcp.json', '.claude/settings.json']],
    ['codex', ['.codex/config.toml', '.codex/hooks.json']],
    ['opencode', ['opencode.json', 'opencode.jsonc', 'tui.json', '.opencode/plugin/x.js', '.opencode/opencode.json']],
    ['gemini', ['.gemini/settings.json', '.gemini/.env', '.env']],
    ['goose', ['.agents/plugins/x/hooks/hooks.json', '.goose/recipes/x.yaml', '.config/goose/settings.json']],
    ['qwen', ['.qwen/settings.json', '.mcp.json', '.env']],
    ['copilot', ['.github/hooks/x.json', '.github/agents/x.agent.md', '.github/lsp.json', '.vscode/mcp.json']],
  ])('every settings file that %s loads is found in the folder and in a parent folder', (agent, paths) => {
    for (const path of paths) {
      write(path)
      for (const cwd of [project, join(project, 'packages', 'app')]) {
        mkdirSync(cwd, { recursive: true })
        expect(find(agent, cwd)?.files.map(file => file.path)).toEqual([join(project, path)])
      }
      rmSync(join(project, path))
    }
  })
  it('texts that only the model reads are not settings of any agent', () => {
    for (const path of ['AGENTS.md', 'CLAUDE.md', 'GEMINI.md', '.goosehints', '.github/copilot-instructions.md'])
      write(path)
    for (const path of ['.agents/skills/x/SKILL.md', '.opencode/plans/x.md', '.goose/memory/x.txt']) write(path)
    expect(settingsAgents.map(agent => find(agent))).toEqual(settingsAgents.map(() => null))
  })
  it('the person’s own settings in the home folder are not settings of a project inside the home folder', () => {
    for (const path of [
      '.claude/settings.json',
      '.codex/config.toml',
      '.opencode/opencode.json',
      '.gemini/settings.json',
    ])
      write(path, '{}', home)
    for (const path of ['.qwen/settings.json', '.env', '.copilot/config.json', '.config/goose/config.yaml'])
      write(path, '{}', home)
    expect(settingsAgents.map(agent => find(agent))).toEqual(settingsAgents.map(() => null))
  })
  it('if an environment variable names another folder for the person’s own settings, the usual folder counts as settings of a project', () => {
    write('.codex/config.toml', '', home)
    write('mine/config.toml', '', home)
    const env = { HOME: home, CODEX_HOME: join(home, 'mine') }
    expect(findProjectSettings('codex', project, personalSettings('codex', env))?.files).toHaveLength(1)
  })
  it('the hash of a folder’s settings changes with every file that is changed, added or removed', () => {
    write('opencode.json')
    const hashes = [find('opencode')?.sha256]
    write('opencode.json', '{"a":1}')
    hashes.push(find('opencode')?.sha256)
    write('.opencode/plugin/x.js', 'x')
    hashes.push(find('opencode')?.sha256)
    write('.opencode/plugin/x.js', 'y')
    hashes.push(find('opencode')?.sha256)
    expect(new Set(hashes).size).toBe(4)
    rmSync(join(project, '.opencode'), { recursive: true })
    expect(find('opencode')?.sha256).toBe(hashes[1])
  })
  it('the packages that opencode installs by itself do not change the hash of a folder’s settings, but other packages do', () => {
    write('.opencode/plugin/x.js', 'x')
    const before = find('opencode')?.sha256
    write('.opencode/package.json', '{"dependencies":{"@opencode-ai/plugin":"1.18.33"}}')
    write('.opencode/node_modules/zod/index.js', 'z')
    write('.opencode/package-lock.json')
    write('.opencode/.gitignore', 'node_modules')
    expect(find('opencode')?.sha256).toBe(before)
    write('.opencode/package.json', '{"dependencies":{"@opencode-ai/plugin":"1.18.34","other":"1.0.0"}}')
    const withOther = find('opencode')?.sha256
    expect(withOther).not.toBe(before)
    write('.opencode/package.json', '{"dependencies":{"other":"1.0.0"}}')
    expect(find('opencode')?.sha256).toBe(withOther)
    write('.opencode/package.json', 'not JSON')
    expect(find('opencode')?.sha256).not.toBe(withOther)
  })
  it('a settings folder behind a symbolic link is found', () => {
    write('elsewhere/settings.json')
    symlinkSync('elsewhere', join(project, '.qwen'))
    expect(find('qwen')?.files.map(file => file.path)).toEqual([join(project, '.qwen/settings.json')])
  })
})

describe('the refusal of untrusted settings', () => {
  it('the refusal of untrusted settings names the files, says that they can run commands, and says how to trust them', () => {
    write('.gemini/settings.json')
    write('.env', 'A=1')
    expect(refusal(['gemini'])).toBe(
      `The agent was not started: this folder has settings that you have not trusted, or that have changed since you trusted them (${project}/.gemini/settings.json, ${project}/.env). They can run commands without asking. To use them, read and trust them on the runner’s machine with: holdpoint trust ${project}. Then send the message again`,
    )
  })
  it('an agent may start in a folder without settings, or with settings that the person has trusted', () => {
    expect(refusal(['gemini'])).toBeNull()
    write('.gemini/settings.json')
    write('.claude/settings.json')
    expect(refusal(['gemini'], ({ agent }) => agent === 'gemini')).toBeNull()
  })
  it('settings that cannot be read are refused with a reason even if everything is trusted', () => {
    symlinkSync('loop', join(project, 'loop'))
    write('.gemini/settings.json')
    symlinkSync('loop', join(project, '.gemini/loop'))
    expect(refusal(['gemini'], () => true)).toContain('its symbolic links lead in a circle')
  })
  it('an agent from the configuration needs trust for the settings of every agent, because its command line can start any agent', () => {
    const agents = customProfile('mine', ['my-agent']).settingsAgents
    expect(refusal(agents)).toBeNull()
    for (const path of ['.claude/settings.json', '.codex/config.toml', 'opencode.json', '.gemini/x', '.goose/x']) {
      write(path)
      expect(refusal(agents)).toContain(path)
      rmSync(join(project, path))
    }
  })
  it('the command that trusts a folder quotes a path with spaces', () => {
    project = join(home, 'my code')
    write('opencode.json')
    expect(refusal(['opencode'])).toContain(`holdpoint trust '${project}'`)
  })
})

describe('the check before every start', () => {
  const connection = { close: async () => {} } as unknown as AgentConnection // the check does not call it
  function checked(trusts: () => boolean) {
    let emit: (output: AgentOutput) => Promise<void> = async () => {}
    let starts = 0
    const protocol = withSettingsCheck(
      {
        title: 'The agent',
        keepsAfterLoss: 'conversation',
        connect: options => {
          starts++
          emit = options.emit
          return connection
        },
      },
      { title: 'The agent', agents: ['opencode'], cwd: project, env: { HOME: home }, trusts },
    )
    const options = { emit: async () => {} } as unknown as ConnectionOptions // the check uses only this
    return {
      protocol,
      connect: () => protocol.connect(options),
      emit: (o: AgentOutput) => emit(o),
      starts: () => starts,
    }
  }

  it('the check before every start starts no process if settings have appeared after the turn was prepared', () => {
    const { protocol, connect, starts } = checked(() => false)
    expect(protocol.startProblem?.()).toBeNull()
    write('opencode.json')
    expect(connect).toThrow('holdpoint trust')
    expect(starts()).toBe(0)
  })
  it('the check before every start refuses the next start after the settings have changed, but not a message to the running process', async () => {
    const { protocol, connect, emit } = checked(() => false)
    connect()
    write('opencode.json')
    expect(protocol.startProblem?.()).toBeNull()
    await emit({ type: 'exited', how: 'parked' })
    expect(protocol.startProblem?.()).toContain('opencode.json')
  })
})
