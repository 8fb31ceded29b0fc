/** Tests how agents are found on this machine, and what the driver for the Agent Client Protocol says about them. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, relative } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findOnPath, versionOf } from '../src/agent-executable.ts'
import { acpDriver, acpProfiles, customProfile } from '../src/index.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdpoint-executable-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function writeProgram(path: string, script: string): string {
  const file = join(folder, path)
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, `#!/bin/sh\n${script}\n`)
  chmodSync(file, 0o755)
  return file
}

describe('findOnPath', () => {
  it('findOnPath returns the first program, and skips folders and files that cannot be run', () => {
    writeFileSync(join(folder, 'goose'), 'not a program')
    mkdirSync(join(folder, 'a/goose'), { recursive: true })
    const program = writeProgram('b/goose', 'true')
    const path = [folder, join(folder, 'a'), join(folder, 'b')].join(delimiter)
    expect(findOnPath('goose', { PATH: path })).toBe(program)
    expect(findOnPath('goose', {})).toBeUndefined()
  })

  it('findOnPath finds no program inside the project, because an untrusted project could contain a program with the name of an agent', () => {
    writeProgram('node_modules/.bin/goose', 'true')
    writeProgram('here/goose', 'true')
    const path = [join(folder, 'node_modules/.bin'), relative('.', join(folder, 'here'))].join(delimiter)
    expect(findOnPath('goose', { PATH: path })).toBeUndefined()
  })
})

describe('versionOf', () => {
  it('versionOf reads the version of a program from its npm package without running the program', async () => {
    const program = writeProgram('lib/agent/dist/index.js', `touch ${join(folder, 'ran')}; echo 9.9.9`)
    writeFileSync(
      join(folder, 'lib/agent/package.json'),
      JSON.stringify({ version: '1.2.3', bin: { agent: 'dist/index.js' } }),
    )
    symlinkSync(program, join(folder, 'agent'))
    expect(await versionOf(join(folder, 'agent'), {})).toBe('1.2.3')
  })

  it('versionOf runs a program that is not in an npm package of its own', async () => {
    const program = writeProgram('bin/goose', 'echo " 1.52.0"')
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ version: '7.7.7', bin: { other: 'bin/goose' } }))
    expect(await versionOf(program, process.env)).toBe('1.52.0')
  })

  it('versionOf returns null if the program prints no version, and looks the version up again when the file has changed', async () => {
    expect(await versionOf(writeProgram('goose', 'exit 1'), process.env)).toBeNull()
    expect(await versionOf(writeProgram('goose', 'echo goose 2.0.0-rc.1'), process.env)).toBe('2.0.0-rc.1')
  })
})

describe('the info of a driver for the Agent Client Protocol', () => {
  const infoOf = (name: string, env: Record<string, string>, executable?: string) => {
    const profile = acpProfiles.find(candidate => candidate.name === name) ?? customProfile(name, ['my-agent', '--acp'])
    return acpDriver(profile, { folder, env, ...(executable !== undefined && { executable }) }).info()
  }

  it.each(acpProfiles.map(({ name }) => name))(
    'the info of a driver for the Agent Client Protocol says how to get %s if it is not installed',
    async name => {
      expect(await infoOf(name, { PATH: folder })).toMatchObject({
        ready: false,
        installed: false,
        missing: expect.stringMatching(
          /is not installed on this machine; install it \(.+\), or set HOLDPOINT_[A-Z_]+ to/,
        ),
      })
    },
  )

  it('the info of a driver for the Agent Client Protocol reports a problem if a variable or a setting names a missing program, but not if an agent is not installed', async () => {
    const missing = expect.stringContaining('/nowhere/gemini is not an executable file')
    const fromVariable = await infoOf('gemini', { HOLDPOINT_GEMINI: '/nowhere/gemini' })
    const fromSetting = await infoOf('gemini', {}, '/nowhere/gemini')
    for (const info of [fromVariable, fromSetting]) {
      expect(info).toMatchObject({ ready: false, missing })
      expect(info.installed).toBeUndefined()
    }
  })

  it('the info of a driver for the Agent Client Protocol says that an agent with an untested version is ready, and which versions were tested', async () => {
    const { PATH = '' } = process.env
    const tested = writeProgram('tested', 'echo 1.52.0')
    const newer = writeProgram('newer', 'echo 1.99.0')
    const ofTested = await infoOf('goose', { PATH, HOLDPOINT_GOOSE: tested })
    expect([ofTested.ready, ofTested.missing]).toEqual([true, undefined])
    expect(await infoOf('goose', { PATH, HOLDPOINT_GOOSE: newer })).toMatchObject({
      ready: true,
      missing: expect.stringContaining('Goose 1.99.0 was not tested with Holdpoint; 1.52.0 was'),
    })
  })

  it('the info of a driver for the Agent Client Protocol says that an agent of the configuration is ready if it is on the PATH, and reports a problem if it is missing', async () => {
    const info = await infoOf('mine', { PATH: folder })
    expect(info).toMatchObject({ name: 'mine', ready: false, missing: expect.stringContaining('`my-agent`') })
    expect(info.installed).toBeUndefined()
    writeProgram('my-agent', 'true')
    expect(await infoOf('mine', { PATH: folder })).toMatchObject({ name: 'mine', title: 'mine', ready: true })
  })
})
