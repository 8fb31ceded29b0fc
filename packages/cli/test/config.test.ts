import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { acpProfiles, executableVariable } from '@holdpoint/drivers'
import { Fault } from '@holdpoint/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readConfig as readSettings } from '../src/config/config.ts'
import { configFileIn, readConfigFile } from '../src/config/config-file.ts'
import { configKeys } from '../src/config/config-schema.ts'
import { openDataFolder } from '../src/config/data-folder.ts'
import { trustFile } from '../src/config/trust.ts'
import { runCli } from './support/cli-process.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdpoint-config-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function writeConfig(config: unknown): void {
  const text = typeof config === 'string' ? config : JSON.stringify(config)
  writeFileSync(join(folder, 'holdpoint.config.json'), text)
}
/** Reads the settings in a folder whose config file is trusted. */
function readConfig(flags: object, env: NodeJS.ProcessEnv, cwd: string) {
  const dataFolder = openDataFolder(join(folder, 'home'))
  const found = readConfigFile(configFileIn(cwd))
  if (found) trustFile(dataFolder, found)
  return readSettings(dataFolder, flags, env, cwd).config
}
function faultOf(read: () => unknown): Fault {
  try {
    read()
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
  throw new Error('no fault was thrown')
}

describe('readConfig', () => {
  it('readConfig prefers flags to environment variables, and environment variables to the file', () => {
    writeConfig({ port: 1, store: 'file:/one.db', onDeadline: 'wait' })
    const env = { HOLDPOINT_PORT: '2', HOLDPOINT_STORE: 'file:two.db' }
    expect(readConfig({ port: '3' }, env, folder)).toEqual({ port: 3, store: 'file:two.db', onDeadline: 'wait' })
    expect(readConfig({ port: undefined }, env, folder)).toMatchObject({ port: 2 })
    expect(readConfig({}, {}, folder)).toEqual({ port: 1, store: 'file:/one.db', onDeadline: 'wait' })
  })

  it('readConfig returns no settings if nothing is set, and ignores empty environment variables', () => {
    expect(readConfig({}, { HOLDPOINT_PORT: '' }, folder)).toEqual({})
  })

  it('readConfig resolves agent paths relative to the config file', () => {
    writeConfig({ agents: { mine: './agents/mine.mjs' } })
    expect(readConfig({}, {}, folder).agents).toEqual({ mine: join(folder, 'agents/mine.mjs') })
  })

  it('readConfig resolves the Claude Code executable relative to the config file, and HOLDPOINT_CLAUDE overrides it', () => {
    writeConfig({ claude: './bin/claude' })
    expect(readConfig({}, {}, folder).claude).toBe(join(folder, 'bin/claude'))
    expect(readConfig({}, { HOLDPOINT_CLAUDE: '/opt/claude' }, folder).claude).toBe('/opt/claude')
  })

  it('every agent that speaks the Agent Client Protocol has a setting and a variable for its executable', () => {
    for (const { name } of acpProfiles) {
      writeConfig({ [name]: `./bin/${name}` })
      expect(readConfig({}, {}, folder)).toEqual({ [name]: join(folder, 'bin', name) })
      expect(readConfig({}, { [executableVariable(name)]: '/opt/agent' }, folder)).toEqual({ [name]: '/opt/agent' })
    }
  })

  it('readConfig resolves the program of a command line relative to the config file only if it is a path', () => {
    writeConfig({ agents: { one: ['./bin/one', '--acp', './x'], two: ['two', '--acp'] } })
    expect(readConfig({}, {}, folder).agents).toEqual({
      one: [join(folder, 'bin/one'), '--acp', './x'],
      two: ['two', '--acp'],
    })
  })

  it('readConfig resolves the path of a SQLite file relative to the config file', () => {
    writeConfig({ store: 'file:one.db' })
    expect(readConfig({}, {}, folder).store).toBe(`file:${join(folder, 'one.db')}`)
  })

  it('readConfig applies the config file in the data folder everywhere, unless another source has the setting', () => {
    const dataFolder = openDataFolder(join(folder, 'home'))
    writeFileSync(
      dataFolder.configFile,
      JSON.stringify({ port: 1, agents: { mine: './mine.mjs' }, onDeadline: 'wait' }),
    )
    const own = { port: 1, agents: { mine: join(dataFolder.path, 'mine.mjs') }, onDeadline: 'wait' }
    expect(readSettings(dataFolder, {}, {}, folder)).toEqual({ config: own, ignored: null })
    expect(readSettings(dataFolder, {}, {}, dataFolder.path)).toEqual({ config: own, ignored: null })
    writeConfig({ port: 2 })
    expect(readConfig({}, { HOLDPOINT_ON_DEADLINE: 'deny' }, folder)).toEqual({ ...own, port: 2, onDeadline: 'deny' })
  })

  it.each([
    ['an unknown key', { prot: 1 }, /holdpoint\.config\.json.*prot/],
    ['a port out of range', { port: 70_000 }, /port/],
    ['an unknown runner mode', { runner: 'cloud' }, /runner/],
    ['an empty path to Claude Code', { claude: '' }, /claude must not be empty/],
    ['a deadline of zero', { deadlineMs: 0 }, /deadlineMs must be a whole number from 1000/],
    [
      'an agent named like a built-in driver',
      { agents: { claude: './a.mjs' } },
      /agents\.claude is the name of a built-in driver/,
    ],
    [
      'an agent named like an agent of the Agent Client Protocol',
      { agents: { goose: ['x'] } },
      /agents\.goose is the name of a built-in/,
    ],
    ['an agent without a program', { agents: { mine: [] } }, /agents\.mine must be the path of a module, or a list/],
    ['text that is not JSON', '{"port": 1,}', /holdpoint\.config\.json.*not valid JSON/],
    ['a duplicate key', '{"port": 1, "port": 2}', /"port" appears twice/],
  ])('readConfig refuses %s in the config file and says what is wrong', (_what, config, sentence) => {
    writeConfig(config)
    expect(faultOf(() => readConfig({}, {}, folder)).message).toMatch(sentence)
  })

  it.each([
    ['a flag that is not a number', { port: 'many' }, {}, '--port must be a whole number from 0 to 65535'],
    ['an empty flag', { port: '' }, {}, '--port must be a whole number from 0 to 65535'],
    ['a flag out of range', { port: '65536' }, {}, '--port must be a whole number from 0 to 65535'],
    [
      'a variable that is not a number',
      {},
      { HOLDPOINT_PORT: 'many' },
      'HOLDPOINT_PORT must be a whole number from 0 to 65535',
    ],
    [
      'a variable with an unknown choice',
      {},
      { HOLDPOINT_RUNNER: 'cloud' },
      'HOLDPOINT_RUNNER must be process, inline or none',
    ],
  ])('readConfig names the flag or variable in the error for %s', (_what, flags, env, message) => {
    expect(faultOf(() => readConfig(flags, env, folder))).toMatchObject({ code: 'bad_input', message })
  })
})

describe('docs/configuration.md', () => {
  const page = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8')

  it('docs/configuration.md documents every key of holdpoint.config.json', () => {
    expect(configKeys.length).toBeGreaterThan(5)
    for (const key of configKeys) expect(page, key).toContain(`| \`${key}\` |`)
  })

  it('docs/configuration.md documents every HOLDPOINT_* variable that the source code names', () => {
    const packages = new URL('../../', import.meta.url)
    const sources = readdirSync(packages, { recursive: true, encoding: 'utf8' }).filter(file =>
      /^[^/]+\/src\/.*\.tsx?$/.test(file),
    )
    const names = new Set(
      sources.flatMap(file => readFileSync(new URL(file, packages), 'utf8').match(/HOLDPOINT_[A-Z_]*[A-Z]/g) ?? []),
    )
    expect([...names]).toEqual(expect.arrayContaining(['HOLDPOINT_HOME', 'HOLDPOINT_PORT', 'HOLDPOINT_TOKEN']))
    for (const name of names) expect(page, name).toContain(`\`${name}\``)
  })

  it('docs/configuration.md documents every option of holdpoint up', async () => {
    const { out } = await runCli(['up', '--help'])
    const flags = [...out.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(match => match[1] as string)
    expect(flags).toEqual(expect.arrayContaining(['--port', '--home']))
    for (const flag of flags.filter(name => name !== '--help')) expect(page, flag).toContain(`\`${flag}`)
  })
})
