/** Tests that the hooks are added to the settings of an agent and removed from them without any other change. */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { terminalAgents } from '@holdpoint/drivers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type DataFolder, openDataFolder } from '../src/config/data-folder.ts'
import { addHooks, type HookFile, installedCommands, removeHooks } from '../src/hooks/hook-settings.ts'

describe.each(['claude', 'codex', 'gemini'] as const)('the hooks in the settings of %s', agent => {
  const command = `/usr/bin/node /opt/holdpoint/bin/holdpoint.js hook run ${agent}`
  let folder: string
  let path: string
  let file: HookFile
  let dataFolder: DataFolder
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'holdpoint-hooks-'))
    path = join(folder, 'settings/settings.json')
    file = { agent, path }
    dataFolder = openDataFolder(join(folder, 'home'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))
  const write = (text: string) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  const read = () => readFileSync(path, 'utf8')

  it('adding hooks without a settings file creates the file, and removing the hooks deletes it', () => {
    expect(addHooks(file, command, dataFolder)).toBe(true)
    expect(Object.keys(JSON.parse(read()).hooks)).toEqual(Object.keys(terminalAgents[agent].hooks))
    expect(installedCommands(file)).toEqual([command])
    expect(removeHooks(file, dataFolder)).toBe(true)
    expect(existsSync(path)).toBe(false)
  })

  it.each([
    '{}',
    '{"hooks":{}}\n',
    '{ "hooks": { "PreToolUse": [] } }',
    '{\n\t"model": "opus",\n\t"hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "true" }] }] }\n}\n',
  ])('adding and removing hooks leaves the settings %j unchanged byte for byte', text => {
    write(text)
    addHooks(file, command, dataFolder)
    expect(read()).not.toBe(text)
    removeHooks(file, dataFolder)
    expect(read()).toBe(text)
  })

  it('removing hooks from the settings of an agent keeps the later changes of the person', () => {
    write('{"model":"opus"}')
    addHooks(file, command, dataFolder)
    const settings = JSON.parse(read())
    const own = { matcher: 'Bash', hooks: [{ type: 'command', command: 'echo own' }] }
    const [name = ''] = Object.keys(settings.hooks)
    settings.hooks[name].push(own)
    settings.theme = 'dark'
    write(JSON.stringify(settings))
    removeHooks(file, dataFolder)
    expect(JSON.parse(read())).toEqual({ model: 'opus', hooks: { [name]: [own] }, theme: 'dark' })
  })

  it('a hook that a person has added to a group of Holdpoint’s hooks stays when Holdpoint’s hooks are replaced or removed', () => {
    addHooks(file, command, dataFolder)
    const settings = JSON.parse(read())
    const [name = ''] = Object.keys(settings.hooks)
    const own = { type: 'command', command: 'echo own' }
    settings.hooks[name][0].hooks.push(own)
    write(JSON.stringify(settings))
    addHooks(file, command.replace('/opt', '/srv'), dataFolder)
    expect(JSON.parse(read()).hooks[name]).toContainEqual({ matcher: '', hooks: [own] })
    removeHooks(file, dataFolder)
    expect(JSON.parse(read())).toEqual({ hooks: { [name]: [{ matcher: '', hooks: [own] }] } })
  })

  it('hooks in the settings of an agent are added once, and replaced if the program has moved', () => {
    write('{"model":"opus"}')
    addHooks(file, command, dataFolder)
    expect(addHooks(file, command, dataFolder)).toBe(false)
    const moved = command.replace('/opt', '/srv')
    expect(addHooks(file, moved, dataFolder)).toBe(true)
    expect(installedCommands(file)).toEqual([moved])
    removeHooks(file, dataFolder)
    expect(read()).toBe('{"model":"opus"}')
  })

  it('hooks in the settings of an agent are not added again if the settings also have other hooks and empty lists', () => {
    const [first = '', second = ''] = Object.keys(terminalAgents[agent].hooks)
    write(JSON.stringify({ hooks: { [second]: [] } }))
    addHooks(file, command, dataFolder)
    expect(addHooks(file, command, dataFolder)).toBe(false)
    const settings = JSON.parse(read())
    settings.hooks[first].push({ matcher: 'Bash', hooks: [{ type: 'command', command: 'echo own' }] })
    write(JSON.stringify(settings))
    expect(addHooks(file, command, dataFolder)).toBe(false)
    expect(JSON.parse(read())).toEqual(settings)
    settings.hooks[first][0].matcher = 'Bash'
    write(JSON.stringify(settings))
    expect(addHooks(file, command, dataFolder)).toBe(true)
  })

  it.each(['{', '[]', '{"hooks": []}', '{"hooks": {"SessionEnd": {}}}'])(
    'hooks are not added to the invalid settings %s, which are left unchanged',
    text => {
      write(text)
      expect(() => addHooks(file, command, dataFolder)).toThrow(/cannot be changed/)
      expect(read()).toBe(text)
    },
  )

  it('hooks are not added to settings with comments, and the error says what to do', () => {
    write('{\n  // mine\n  "model": "opus"\n}')
    expect(() => addHooks(file, command, dataFolder)).toThrow(
      /settings file that contains comments.*Remove the comments/,
    )
  })

  it('a settings file that is a symbolic link stays a link and keeps its permissions when hooks are added and removed', () => {
    write('{}')
    const real = join(folder, 'real.json')
    renameSync(path, real)
    chmodSync(real, 0o640)
    symlinkSync(real, path)
    addHooks(file, command, dataFolder)
    expect(JSON.parse(readFileSync(real, 'utf8')).hooks).toBeDefined()
    expect(lstatSync(path).isSymbolicLink()).toBe(true)
    expect(statSync(real).mode & 0o777).toBe(0o640)
    removeHooks(file, dataFolder)
    expect(readFileSync(real, 'utf8')).toBe('{}')
    expect(readdirSync(folder).sort()).toEqual(['home', 'real.json', 'settings'])
  })

  it('hooks of one agent stay in the settings when the hooks of another agent are removed', () => {
    const other = agent === 'claude' ? 'codex' : 'claude'
    addHooks(file, command, dataFolder)
    expect(removeHooks({ agent: other, path }, dataFolder)).toBe(false)
    expect(installedCommands(file)).toEqual([command])
  })

  it('hooks in the settings of an agent are reported as missing if there are none', () => {
    expect(removeHooks(file, dataFolder)).toBe(false)
    write('{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"echo holdpoint"}]}]}}')
    expect(installedCommands(file)).toEqual([])
    expect(removeHooks(file, dataFolder)).toBe(false)
  })
})
