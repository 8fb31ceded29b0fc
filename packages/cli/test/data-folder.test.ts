import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cleanEnvironment, closeGateways, startGateway } from '../../../test/support/gateway.ts'
import { dataFolderAt, openDataFolder } from '../src/config/data-folder.ts'
import { unmappedUserIdIn } from '../src/config/file-access.ts'
import { runCli, runRefusedGateway } from './support/cli-process.ts'

let folder: string
let home: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdpoint-home-'))
  home = join(folder, 'home')
  mkdirSync(home, { mode: 0o700 })
})
afterEach(async () => {
  await closeGateways()
  rmSync(folder, { recursive: true, force: true })
})

const nobody = 65_534
/** Returns a folder of another user. Only root can change the owner of a folder; all other users get a folder of root. */
function foreignFolder(): string {
  if (process.geteuid?.() !== 0) return '/usr'
  const foreign = join(folder, 'foreign')
  mkdirSync(foreign, { mode: 0o700 })
  chownSync(foreign, nobody, nobody)
  return foreign
}
/** Starts a gateway, which refuses the data folder. `holdpoint up` starts the same gateway under a supervisor. */
const start = () => runRefusedGateway(['--port', '0', '--home', home], folder)

describe('a data folder', () => {
  it.each([0o777, 0o770, 0o702])('F15: a data folder that others can write to is refused (mode %o)', async mode => {
    chmodSync(home, mode)
    const { code, err } = await runCli(['up', '--port', '0', '--home', home], { cwd: folder })
    expect(code).toBe(1)
    expect(err).toMatch(new RegExp(`^holdpoint: ${home} is owned by \\S+ with mode 0${mode.toString(8)}, and `))
    expect(err).toContain(`Fix it with: chmod go-w ${home}`)
    expect(readdirSync(home)).toEqual([])
  })

  it('F15: a data folder that belongs to another user is refused', async () => {
    home = foreignFolder()
    const { code, err } = await start()
    expect(code).toBe(1)
    expect(err).toMatch(
      new RegExp(`^holdpoint: ${home} is owned by \\S+ with mode 0\\d+, so that user could .* chown \\S+ ${home}`),
    )
  })

  it('F15: a data folder that others can replace in its parent folder is refused', async () => {
    chmodSync(folder, 0o777)
    expect((await start()).err).toContain(`${folder} is owned by`)
    // With the sticky bit, others can only add entries.
    chmodSync(folder, 0o1777)
    expect(openDataFolder(home).path).toBe(home)
  })

  it('F15: a data folder behind a link that others can replace is refused', async () => {
    const open = join(folder, 'open')
    mkdirSync(open)
    chmodSync(open, 0o777)
    symlinkSync(home, join(open, 'link'))
    home = join(open, 'link')
    expect((await start()).err).toContain(`${open} is owned by`)
  })

  it.each(['token', 'runner-token', 'holdpoint.db', 'holdpoint.config.json', 'trusted-configs.json', 'gateway.json'])(
    'F15: a data folder is refused if others can write to its %s',
    async name => {
      writeFileSync(join(home, name), '')
      chmodSync(join(home, name), 0o620)
      const { code, err } = await start()
      expect([code, err]).toEqual([1, expect.stringContaining(`chmod go-w ${join(home, name)}`)])
    },
  )

  it('F15: a data folder is refused if its token is a link into a folder that others can write to', async () => {
    const open = join(folder, 'open')
    mkdirSync(open)
    chmodSync(open, 0o777)
    writeFileSync(join(open, 'token'), 'x'.repeat(50), { mode: 0o600 })
    symlinkSync(join(open, 'token'), join(home, 'token'))
    expect((await start()).err).toContain(`chmod go-w ${open}`)
  })

  it('F15: commands refuse a data folder that others can write to', async () => {
    const gateway = await startGateway({ runner: 'none' })
    chmodSync(gateway.home.path, 0o777)
    const commands = [['inbox'], ['link'], ['watch'], ['runner'], ['down'], ['backup', 'x.db'], ['trust', '--list']]
    for (const words of commands) {
      const { code, err } = await runCli([...words, '--home', gateway.home.path], { cwd: gateway.folder })
      expect([words, code, err]).toEqual([words, 1, expect.stringContaining(`chmod go-w ${gateway.home.path}`)])
    }
  })

  it('F15: commands with a token of their own refuse such a data folder too, because it contains the path of the gateway’s socket', async () => {
    const gateway = await startGateway({ runner: 'none' })
    chmodSync(gateway.home.path, 0o777)
    const env = { ...cleanEnvironment(), HOLDPOINT_TOKEN: 'hp_mine' }
    const { code, err } = await runCli(['inbox', '--home', gateway.home.path], { cwd: gateway.folder, env })
    expect([code, err]).toEqual([1, expect.stringContaining(`chmod go-w ${gateway.home.path}`)])
  })

  it('F15: holdpoint doctor reports a data folder that others can write to, with the command that fixes the problem', async () => {
    chmodSync(home, 0o777)
    const { code, out } = await runCli(['doctor', '--json', '--home', home], { cwd: folder })
    expect(code).toBe(1)
    expect(JSON.parse(out).findings).toContainEqual({
      name: 'Data folder',
      ok: false,
      detail: expect.stringMatching(/mode 0777, and other users can write to it/),
      remedy: `chmod go-w ${home}`,
    })
  })

  it('L5: holdpoint up removes the permissions of others on a data folder that they could only read', () => {
    chmodSync(home, 0o755)
    openDataFolder(home)
    expect(statSync(home).mode & 0o777).toBe(0o700)
  })

  it('L5: a data folder has no file that others can read, even with umask 000', async () => {
    const gateway = await startGateway({ runner: 'process', umask: 0 })
    await gateway.runnerStarted()
    const modes = readdirSync(gateway.home.path, { withFileTypes: true })
      .filter(entry => entry.isFile() && !entry.name.endsWith('-shm'))
      .map(({ name }) => [name, (statSync(join(gateway.home.path, name)).mode & 0o777).toString(8)])
    expect(modes.length).toBeGreaterThan(5)
    for (const [name, mode] of modes) expect([name, mode]).toEqual([name, '600'])
    expect(statSync(gateway.home.path).mode & 0o777).toBe(0o700)
  })

  it('F15: a token is written through a temporary file with a random name', () => {
    const dataFolder = openDataFolder(home)
    // An earlier version wrote to this name and followed a link there.
    const target = join(folder, 'target')
    symlinkSync(target, join(home, `token.${process.pid}`))
    expect(dataFolder.ownerToken()).toMatch(/^hp_/)
    expect(existsSync(target)).toBe(false)
    expect(readdirSync(home).sort()).toEqual(['token', `token.${process.pid}`])
  })

  it.each([
    ['the usual mapping', '         0          0 4294967295', null],
    ['a container that maps root', '0 0 1\n1 100000 65535', null],
    ['a container that maps many users, but not root', '0 100000 65536', null],
    ['a sandbox without root', '      1000       1000          1', 65_534],
    ['a system without namespaces', '', null],
  ])('F15: unmappedUserIdIn returns the id that represents root in %s', (_where, uidMap, id) => {
    expect(unmappedUserIdIn(uidMap, '65534')).toBe(id)
  })

  it('an empty HOLDPOINT_HOME means the default data folder', () => {
    const before = process.env.HOLDPOINT_HOME
    process.env.HOLDPOINT_HOME = ''
    try {
      expect(dataFolderAt().path).toMatch(/\.holdpoint$/)
    } finally {
      if (before === undefined) delete process.env.HOLDPOINT_HOME
      else process.env.HOLDPOINT_HOME = before
    }
  })
})
