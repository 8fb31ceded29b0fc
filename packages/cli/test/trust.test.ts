import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cleanEnvironment, closeGateways, GatewayProcess, shortPause } from '../../../test/support/gateway.ts'
import { readConfig } from '../src/config/config.ts'
import { configFileIn, readConfigFile } from '../src/config/config-file.ts'
import { configKeys, executableKeys, trustedKeys } from '../src/config/config-schema.ts'
import { type DataFolder, openDataFolder } from '../src/config/data-folder.ts'
import { trustFile } from '../src/config/trust.ts'
import { runCli } from './support/cli-process.ts'
import { closeTerminals, keys, Terminal } from './support/terminal.ts'

/** A folder that an attacker prepared, as in finding F5. */
let folder: string
let dataFolder: DataFolder
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdpoint-trust-'))
  dataFolder = openDataFolder(join(folder, 'home'))
})
afterEach(async () => {
  closeTerminals()
  await closeGateways()
  rmSync(folder, { recursive: true, force: true })
})

const hostile = {
  agents: { helper: './agent.mjs' },
  ...Object.fromEntries(executableKeys.map(name => [name, `./fake-${name}`])),
  host: '127.0.0.2',
  hosts: ['evil.test'],
  store: 'file:./theirs.db',
  port: 1,
  runner: 'inline',
  retentionDays: 0,
  allowRemote: true,
}
function writeConfig(config: object, where = folder): void {
  writeFileSync(join(where, 'holdpoint.config.json'), JSON.stringify(config))
}
function trustConfig(where = folder): void {
  const found = readConfigFile(configFileIn(where))
  if (!found) throw new Error('there is no config file')
  trustFile(dataFolder, found)
}
/** Returns the status of the reply to a request for this host name. */
function statusFor(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { headers: { host } }, reply => resolve(reply.resume().statusCode)).once('error', reject)
  })
}
const read = (where = folder) => readConfig(dataFolder, {}, {}, where)
const cli = (...words: string[]) => runCli([...words, '--home', dataFolder.path], { cwd: folder })

describe('a config file in the working folder', () => {
  it('F5: an untrusted config file sets nothing that runs code, moves data or widens access', () => {
    writeConfig({ ...hostile, deadlineMs: 5000, onDeadline: 'wait', parkAfterMs: 7 })
    const { config, ignored } = read()
    expect(config).toEqual({ deadlineMs: 5000, onDeadline: 'wait', parkAfterMs: 7 })
    for (const key of Object.keys(hostile)) expect(ignored).toContain(key)
    expect(ignored).toMatch(/because you have not trusted this file\..* run: holdpoint trust \S+ --home \S+$/)
    expect(Object.keys(hostile).sort()).toEqual([...trustedKeys].sort())
  })

  it('F5: a config file applies completely once it is trusted, and no longer once it has changed', () => {
    writeConfig(hostile)
    trustConfig()
    expect(read()).toMatchObject({ config: { port: 1, agents: { helper: join(folder, 'agent.mjs') } }, ignored: null })
    writeConfig({ ...hostile, port: 2 })
    expect(read().config).toEqual({})
    expect(read().ignored).toContain('because it has changed since you trusted it')
    writeConfig(hostile)
    expect(read().ignored).toBeNull()
  })

  it('F5: a config file is trusted only at its own path, because the paths in it are relative to its folder', () => {
    writeConfig(hostile)
    trustConfig()
    const other = join(folder, 'other')
    mkdirSync(other)
    writeConfig(hostile, other)
    expect(read(other).config).toEqual({})
    const linked = join(folder, 'linked')
    mkdirSync(linked)
    symlinkSync(join(folder, 'holdpoint.config.json'), join(linked, 'holdpoint.config.json'))
    expect(read(linked).config).toEqual({})
  })

  it('F5: a config file has the same path if the working folder is reached through a symbolic link', () => {
    writeConfig(hostile)
    trustConfig()
    const link = join(folder, 'link')
    symlinkSync(folder, link)
    expect(read(link)).toMatchObject({ config: { agents: { helper: join(folder, 'agent.mjs') } }, ignored: null })
  })

  it('F5: a config file stays untrusted while other users could replace it or the code that it names', () => {
    writeConfig(hostile)
    trustConfig()
    writeFileSync(join(folder, 'agent.mjs'), '')
    chmodSync(join(folder, 'agent.mjs'), 0o666)
    expect(read().config).toEqual({})
    expect(read().ignored).toMatch(
      /agent\.mjs is owned by .* with mode 0666, and other users can write to it \(fix it with: chmod go-w /,
    )
    chmodSync(join(folder, 'agent.mjs'), 0o644)
    expect(read().ignored).toBeNull()
    chmodSync(folder, 0o777)
    expect(read().ignored).toContain(`because ${folder} is owned by`)
  })

  it('F5: a folder or a pipe instead of a config file is refused at once', () => {
    const file = join(folder, 'holdpoint.config.json')
    mkdirSync(file)
    expect(() => read()).toThrow(/holdpoint\.config\.json: This is not a regular file/)
    rmSync(file, { recursive: true })
    execFileSync('mkfifo', [file])
    expect(() => read()).toThrow(/holdpoint\.config\.json: This is not a regular file/)
  })

  it('F5: a config file in which no setting needs trust causes no message', () => {
    writeConfig({ deadlineMs: 5000 })
    expect(read()).toEqual({ config: { deadlineMs: 5000 }, ignored: null })
  })

  it('docs/configuration.md says for every key whether it needs trust', () => {
    const page = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8')
    for (const key of configKeys) {
      const line = page.split('\n').find(text => text.startsWith(`| \`${key}\` |`)) ?? ''
      expect([key, line.includes('needs trust')]).toEqual([key, trustedKeys.includes(key)])
    }
  })
})

describe('holdpoint up in a folder with an untrusted config file', () => {
  it('F5: holdpoint up in a folder with an untrusted config file runs neither its agent nor its executable, listens on its usual address, and says what to do', async () => {
    const gateway = new GatewayProcess({ runner: 'process', trusted: false, config: { ...hostile, port: 0 } })
    const ran = join(gateway.folder, 'RAN')
    writeFileSync(
      join(gateway.folder, 'agent.mjs'),
      `import { writeFileSync } from 'node:fs'\nwriteFileSync('${ran}', '')`,
    )
    await gateway.start()
    while (!(await gateway.call('listRunners', {})).items.some(({ live }) => live)) await shortPause()
    const drivers = (await gateway.call('listDrivers', {})).items.map(({ name }) => name)
    expect(drivers).not.toContain('helper')
    expect(() => statSync(ran)).toThrow('ENOENT')
    expect(new URL(gateway.url).hostname).not.toBe('127.0.0.2')
    expect(await statusFor(gateway.url, 'evil.test')).toBe(421)
    await expect.poll(() => gateway.stderr).toContain(`holdpoint: Ignoring `)
    await expect
      .poll(() => gateway.stderr)
      .toContain(`run: holdpoint trust ${gateway.folder} --home ${gateway.home.path}`)
    // The runner reads the settings itself.
    expect(readFileSync(gateway.home.runnerLog, 'utf8')).toContain('"event":"config.ignored"')
  })

  it('F5: holdpoint up in a folder with an untrusted config file applies the file after holdpoint trust --yes', async () => {
    const gateway = new GatewayProcess({
      runner: 'process',
      trusted: false,
      config: { agents: { helper: './agent.mjs' } },
    })
    const agent = `import { defineAgent } from '@holdpoint/drivers'
      export default defineAgent({ name: 'helper', title: 'helper', async *run() { yield 'hi' } })`
    writeFileSync(join(gateway.folder, 'agent.mjs'), agent)
    expect(await runCli(['trust', '--yes', gateway.folder, '--home', gateway.home.path])).toMatchObject({ code: 0 })
    await gateway.start()
    for (;;) {
      const drivers = (await gateway.call('listDrivers', {})).items
      if (drivers.some(({ name }) => name === 'helper')) break
      await shortPause()
    }
    expect(gateway.stderr).not.toContain('Ignoring')
  })

  it.each([['backup', 'x.db'], ['down'], ['doctor']])('F5: %s reports the ignored config file', async (...words) => {
    writeConfig({ store: 'file:theirs.db' })
    const { out, err } = await cli(...words)
    expect(out + err).toMatch(/Ignoring store in .*holdpoint\.config\.json/)
  })
})

describe('holdpoint trust', () => {
  it('holdpoint trust shows in plain words what the file would do, without passwords and with invisible characters escaped', async () => {
    const agents = { ...hostile.agents, other: ['./other', 'two words'] }
    writeConfig({ ...hostile, agents, store: 'postgres://me:secret@db/x', hosts: ['evil\u202e.test'] })
    const { code, out, err } = await cli('trust')
    expect(code).toBe(2)
    expect(err).toMatch(/There is no terminal to confirm in.*--yes/)
    const shown = out + err
    expect(shown).toContain(`run the code in ${join(folder, 'agent.mjs')} as the agent “helper”`)
    expect(shown).toContain(`run ${join(folder, 'fake-claude')} as the agent “claude”`)
    expect(shown).toContain(`run ${join(folder, 'other')} 'two words' as the agent “other”`)
    expect(shown).toContain('listen on the address 127.0.0.2')
    expect(shown).toContain('evil\\u{202e}.test')
    expect(shown).toContain('postgres://me:…@db/x')
    expect(shown).toContain('run agents inside the gateway')
    expect(shown).toContain('delete ended sessions and their history after 0 days')
    expect(shown).not.toMatch(/secret/)
    expect(read().ignored).toContain('you have not trusted')
  })

  it('holdpoint trust asks in a terminal, and trusts the content that it showed even if the file is replaced meanwhile', async () => {
    writeConfig(hostile)
    const terminal = new Terminal(['trust', folder, '--home', dataFolder.path], { cwd: folder })
    await terminal.waitFor('Trust this file? [y/N]')
    writeConfig({ ...hostile, claude: './another' })
    terminal.press('y', keys.enter)
    expect(await terminal.exit).toBe(0)
    expect(read().ignored).toContain('changed since you trusted it')
    writeConfig(hostile)
    expect(read().ignored).toBeNull()
  })

  it('holdpoint trust trusts nothing if the person does not confirm', async () => {
    writeConfig(hostile)
    const terminal = new Terminal(['trust', '--home', dataFolder.path], { cwd: folder })
    await terminal.waitFor('Trust this file? [y/N]')
    terminal.press(keys.enter)
    expect(await terminal.exit).toBe(1)
    expect(read().ignored).toContain('you have not trusted')
  })

  it('holdpoint trust refuses a file that other users can replace, even with --yes', async () => {
    writeConfig(hostile)
    chmodSync(join(folder, 'holdpoint.config.json'), 0o666)
    const { code, err } = await cli('trust', '--yes')
    expect([code, err]).toEqual([1, expect.stringMatching(/was not trusted, because .*mode 0666.*chmod go-w/)])
  })

  it('holdpoint trust lists the trusted files with their state, and removes a file from the list', async () => {
    expect((await cli('trust', '--list')).err).toMatch(/No file is trusted/)
    writeConfig(hostile)
    expect((await cli('trust', '--yes')).code).toBe(0)
    const file = join(folder, 'holdpoint.config.json')
    expect((await cli('trust', '--list')).out).toBe(`${file}\n`)
    expect(statSync(dataFolder.trustFile).mode & 0o777).toBe(0o600)
    writeConfig({ ...hostile, port: 3 })
    expect((await cli('trust', '--list')).out).toBe(`${file} (changed, so it does not apply)\n`)
    rmSync(file)
    expect((await cli('trust', '--list')).out).toBe(`${file} (does not exist)\n`)
    expect((await cli('trust', '--remove', file)).code).toBe(0)
    expect((await cli('trust', '--remove', file)).code).toBe(3)
    expect((await cli('trust', '--list')).err).toMatch(/No file is trusted/)
  })

  it('holdpoint trust reports a missing file and a file with a wrong name', async () => {
    expect(await cli('trust')).toMatchObject({
      code: 3,
      err: expect.stringMatching(/There is no file holdpoint\.config\.json/),
    })
    writeFileSync(join(folder, 'other.json'), '{}')
    expect(await cli('trust', 'other.json')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/name of the file must be/),
    })
  })
})

describe('an address that other machines can reach', () => {
  const up = (words: string[], env: Record<string, string> = {}) =>
    runCli(['up', '--port', '0', '--runner', 'none', '--home', dataFolder.path, ...words], {
      cwd: folder,
      env: { ...cleanEnvironment(), ...env },
    })

  it.each([
    [['--host', '0.0.0.0'], {}],
    [['--host', '::'], {}],
    [['--host', 'example.com'], {}],
    [[], { HOLDPOINT_HOST: '0.0.0.0' }],
  ])('an address that other machines can reach needs --allow-remote: %j %j', async (words, env) => {
    const { code, err } = await up(words, env as Record<string, string>)
    expect([code, err]).toEqual([2, expect.stringMatching(/reverse proxy with TLS .* --allow-remote/)])
  })

  it('an address that other machines can reach is used with --allow-remote, and the gateway says that TLS is needed', async () => {
    const gateway = new GatewayProcess({
      runner: 'none',
      env: { HOLDPOINT_HOST: '0.0.0.0', HOLDPOINT_ALLOW_REMOTE: '1' },
    })
    await gateway.start()
    await expect.poll(() => gateway.stderr).toMatch(/Other machines can reach this gateway at 0\.0\.0\.0.*TLS/)
  })
})

describe('holdpoint trust for a file with rules', () => {
  const writeRules = (text: string) => writeFileSync(join(folder, 'holdpoint.rules.json'), text)
  it('holdpoint trust for a file with rules shows the rules of a folder, trusts only this version of the rules, and can remove the trust', async () => {
    const rules = '{"rules": [{"effect": "allow", "command": "npm test"}, {"effect": "deny", "command": "git push"}]}'
    writeRules(rules)
    const trusted = await cli('trust', '--yes')
    expect(trusted.err).toMatch(/Allow npm test in .*\n.*Deny git push in /)
    expect(trusted.out).toContain('The rules that allow something apply from now on.')
    expect((await cli('trust', '--list')).out).toMatch(/holdpoint\.rules\.json$/m)
    writeRules(rules.replace('npm test', 'npm start'))
    expect((await cli('trust', '--list')).out).toContain('holdpoint.rules.json (changed, so it does not apply)')
    expect((await cli('trust', '--remove', 'holdpoint.rules.json')).out).toContain('the others still do')
    expect((await cli('trust', '--list')).err).toContain('No file is trusted')
  })
  it('holdpoint trust names the mistake in an invalid file with rules, as holdpoint doctor does', async () => {
    writeRules('{"rules": [{"effect": "allow", "comand": "npm test"}]}')
    expect(await cli('trust', '--yes')).toMatchObject({
      code: 2,
      err: expect.stringContaining('rules[0].comand is not known'),
    })
    const findings = JSON.parse((await cli('doctor', '--json')).out).findings as { name: string; detail: string }[]
    expect(findings.find(({ name }) => name === 'Rules')?.detail).toContain('rules[0].comand is not known')
  })
})
