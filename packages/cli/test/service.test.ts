import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cleanEnvironment, holdpoint } from '../../../test/support/gateway.ts'
import { openDataFolder, runningProcess } from '../src/config/data-folder.ts'
import type { CliResult } from './support/cli-process.ts'

/** Characters that systemd, XML or a shell would interpret. */
const ugly = 'a b %h $HOME "q" \\ <&> é'

let folder: string
/** The data folder. The program is in it, so that the path of the program has these characters too. */
let home: string
let program: string
let env: NodeJS.ProcessEnv

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdpoint-service-'))
  home = join(folder, ugly)
  program = join(home, 'holdpoint.js')
  for (const name of ['bin', ugly]) mkdirSync(join(folder, name), { mode: 0o700 })
  symlinkSync(holdpoint, program)
  writeFileSync(join(home, 'holdpoint.config.json'), '{"port":0}', { mode: 0o600 })
  env = {
    ...cleanEnvironment(),
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, 'config'),
    FAKE_LAUNCHER: folder,
    PATH: `${join(folder, 'bin')}:${join(folder, 'node_modules/.bin')}:${process.env.PATH}`,
  }
})
afterEach(async () => {
  await run([program, 'down', '--home', home])
  rmSync(folder, { recursive: true, force: true })
})

function run(words: readonly string[], changes: NodeJS.ProcessEnv = {}): Promise<CliResult> {
  return new Promise(done =>
    execFile(process.execPath, words, { env: { ...env, ...changes } }, (error, out, err) =>
      done({ code: error ? Number(error.code) : 0, out, err }),
    ),
  )
}
function calls(): readonly string[] {
  return readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n')
}
function makeFail(command: string): void {
  writeFileSync(join(folder, `fail-${command}`), '')
}
function useFake(name: 'systemctl' | 'launchctl'): void {
  symlinkSync(join(import.meta.dirname, `support/fake-${name}.mjs`), join(folder, 'bin', name))
}

describe('holdpoint service with systemd', () => {
  const unitFile = () => join(folder, 'config/systemd/user/holdpoint.service')
  const service = (...words: string[]) => run([program, 'service', ...words])
  const install = () => service('install', '--home', home)

  it('holdpoint service with systemd installs a service for this program and data folder, shows where the gateway runs, and keeps the data when the service is removed', async () => {
    useFake('systemctl')
    const { code, out, err } = await install()
    expect([code, err]).toEqual([0, ''])
    const url = /running as a service at (\S+)/.exec(out)?.[1] ?? ''
    expect(await (await fetch(`${url}/healthz`)).json()).toMatchObject({ ok: true })
    expect(out).toContain(`${url}/#code=`)
    expect(out).toContain('loginctl enable-linger')
    expect(statSync(join(home, 'gateway.log')).mode & 0o077, 'nobody else reads the links in the log').toBe(0)

    const status = await service('status')
    expect(status).toMatchObject({ code: 0, out: expect.stringContaining(`The service is running, at ${url}`) })
    expect(status.out).toContain(home)
    expect(JSON.parse((await service('status', '--json')).out)).toEqual({
      installed: true,
      running: true,
      url,
      file: unitFile(),
    })

    const removed = await service('remove')
    expect(removed).toMatchObject({ code: 0, out: expect.stringContaining(`The data in ${home} is kept`) })
    expect(existsSync(unitFile())).toBe(false)
    expect(existsSync(join(home, 'holdpoint.db'))).toBe(true)
    for (const name of ['gateway', 'runner'] as const) expect(runningProcess(openDataFolder(home), name)).toBe(null)
    expect(calls().filter(call => !call.includes('is-active'))).toEqual([
      '--user show --property=Version',
      '--user daemon-reload',
      '--user enable --now holdpoint.service',
      '--user show --property=Version',
      '--user disable --now holdpoint.service',
      '--user daemon-reload',
    ])
    expect(await service('status')).toMatchObject({ code: 1, out: expect.stringContaining('No service is installed') })
    expect(await service('remove')).toMatchObject({ code: 0, out: expect.stringContaining('No service is installed') })
  })

  it('holdpoint service install names an existing service or a running gateway, and changes nothing', async () => {
    useFake('systemctl')
    const { out } = await run([program, 'up', '--detach', '--home', home])
    const url = /at (\S+)/.exec(out)?.[1] ?? 'missing'
    expect(await install()).toMatchObject({ code: 1, err: expect.stringContaining(`already running at ${url}`) })
    expect(existsSync(unitFile())).toBe(false)
    await run([program, 'down', '--home', home])

    expect((await install()).code).toBe(0)
    const unit = readFileSync(unitFile(), 'utf8')
    expect(await install()).toMatchObject({ code: 1, err: expect.stringContaining('A service is installed already') })
    expect(readFileSync(unitFile(), 'utf8')).toBe(unit)
    expect(unit).toMatch(/^Restart=on-failure$/m)
    expect(unit, 'a project could replace programs there').not.toContain('node_modules/.bin')
  })

  it('holdpoint service install warns about a variable of the terminal that the service does not get', async () => {
    useFake('systemctl')
    const { err } = await run([program, 'service', 'install', '--home', home], { HOLDPOINT_RUNNER: 'none' })
    expect(err).toContain('does not use HOLDPOINT_RUNNER')
    expect(err).toContain(join(home, 'holdpoint.config.json'))
  })

  it('holdpoint service install checks options of up and passes them on to the service, but refuses a password', async () => {
    useFake('systemctl')
    const wrong = await service('install', '--home', home, '--port', 'many')
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('--port must be a whole number') })
    const secret = await service('install', '--home', home, '--store', 'postgres://ana:pw@db/x')
    expect(secret).toMatchObject({ code: 2, err: expect.stringContaining('The password in --store') })
    expect(existsSync(unitFile())).toBe(false)
    const store = `file:${join(home, 'other.db')}`
    expect((await service('install', '--home', home, '--store', store, '--runner', 'none')).code).toBe(0)
    expect(existsSync(join(home, 'other.db')), 'the gateway uses the store that the option names').toBe(true)
    expect(runningProcess(openDataFolder(home), 'runner')).toBe(null)
    expect(await service('remove')).toMatchObject({ code: 0 })
  })

  it('a service whose gateway does not start within 20 seconds is removed again, and the error says why', async () => {
    useFake('systemctl')
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    writeFileSync(join(home, 'gateway.log'), 'a line of an earlier gateway\n', { mode: 0o600 })
    const refused = await service('install', '--home', home, '--port', String(port))
    taken.close()
    expect(refused.code).toBe(1)
    expect(refused.err).toContain('it was removed again')
    expect(refused.err).toContain(`Port ${port} is taken`)
    expect(existsSync(unitFile())).toBe(false)
    expect(calls().slice(-2)).toEqual(['--user disable --now holdpoint.service', '--user daemon-reload'])
  })

  it('holdpoint service install says what to do on a machine without systemd or without a systemd instance for the user', async () => {
    const noPath = await run([program, 'service', 'install', '--home', home], { PATH: join(folder, 'bin') })
    expect(noPath).toMatchObject({ code: 1, err: expect.stringContaining('systemctl was not found') })
    expect(noPath.err).toContain('holdpoint up --detach')
    useFake('systemctl')
    makeFail('show')
    const noBus = await install()
    expect(noBus).toMatchObject({ code: 1, err: expect.stringContaining('Failed to connect to bus: No medium found)') })
    expect(existsSync(unitFile())).toBe(false)
  })

  it('a service that cannot be started is removed again', async () => {
    useFake('systemctl')
    makeFail('enable')
    expect(await install()).toMatchObject({
      code: 1,
      err: expect.stringContaining('The command failed: systemctl --user enable --now holdpoint.service'),
    })
    expect(existsSync(unitFile())).toBe(false)
    expect(calls().slice(-2)).toEqual(['--user disable --now holdpoint.service', '--user daemon-reload'])
  })

  it('a program in the npx cache is not installed as a service', async () => {
    useFake('systemctl')
    const cached = join(folder, '_npx/1')
    mkdirSync(cached, { recursive: true })
    symlinkSync(holdpoint, join(cached, 'holdpoint.js'))
    const refused = await run([join(cached, 'holdpoint.js'), 'service', 'install', '--home', home])
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('npm install -g holdpoint') })
  })

  it.runIf(existsSync('/usr/bin/systemd-analyze'))('systemd itself reads the unit without a complaint', async () => {
    useFake('systemctl')
    expect((await install()).code).toBe(0)
    const verify = () => {
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--user', unitFile()], {
        encoding: 'utf8',
        env: { ...process.env, XDG_RUNTIME_DIR: folder },
      })
      return { status, complaints: stderr.split('\n').filter(line => line.includes('holdpoint.service')) }
    }
    expect(verify()).toEqual({ status: 0, complaints: [] })
    writeFileSync(unitFile(), readFileSync(unitFile(), 'utf8').replace('ExecStart="/', 'ExecStart="/missing/'))
    expect(verify().complaints.join(), 'verify notices a program that does not exist').toContain('/missing/')
  })
})

describe('holdpoint service with launchd, which only a fake launchctl has run so far', () => {
  const onMac = ['--import', 'data:text/javascript,Object.defineProperty(process, "platform", { value: "darwin" })']
  const plist = () => join(folder, 'Library/LaunchAgents/holdpoint.gateway.plist')
  const service = (...words: string[]) => run([...onMac, program, 'service', ...words])

  it('holdpoint service with launchd installs a service for this program and data folder, shows where the gateway runs, and keeps the data when the service is removed', async () => {
    useFake('launchctl')
    const domain = `gui/${process.getuid?.()}`
    const { code, out, err } = await service('install', '--home', home, '--host', '127.0.0.1')
    expect([code, err]).toEqual([0, ''])
    expect(readFileSync(plist(), 'utf8')).toMatch(/<string>--host<\/string>\s*<string>127\.0\.0\.1<\/string>/)
    const url = /running as a service at (\S+)/.exec(out)?.[1] ?? ''
    expect(await (await fetch(`${url}/healthz`)).json()).toMatchObject({ ok: true })
    expect(out).not.toContain('loginctl')
    expect(readFileSync(plist(), 'utf8')).toMatch(
      /<key>KeepAlive<\/key>\s*<dict>\s*<key>SuccessfulExit<\/key>\s*<false\/>/,
    )
    expect(await service('status')).toMatchObject({ code: 0, out: expect.stringContaining(`running, at ${url}`) })
    expect(await service('remove')).toMatchObject({ code: 0, out: expect.stringContaining(`${home} is kept`) })
    expect(existsSync(plist())).toBe(false)
    for (const name of ['gateway', 'runner'] as const) expect(runningProcess(openDataFolder(home), name)).toBe(null)
    expect(calls()).toEqual([
      `print ${domain}`,
      `bootstrap ${domain} ${plist()}`,
      `print ${domain}/holdpoint.gateway`,
      `print ${domain}`,
      `bootout ${domain}/holdpoint.gateway`,
    ])
  })
})

describe('holdpoint service elsewhere', () => {
  it('holdpoint service elsewhere says that the platform has no supported launcher', async () => {
    const onFreeBsd = 'data:text/javascript,Object.defineProperty(process, "platform", { value: "freebsd" })'
    const refused = await run(['--import', onFreeBsd, program, 'service', 'status'])
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('not on freebsd') })
  })
})
