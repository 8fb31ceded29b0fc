/** Installs the packed packages into an empty folder as people do, without a network, and starts the program from there. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cleanEnvironment } from './support/gateway.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '..')
const sizeMax = 40_000_000

/** The packages that the program needs when it runs. `npm pack` of an installed package gives the files that were published. */
const needed = [
  'packages/cli',
  'packages/web',
  'node_modules/@photostructure/sqlite',
  'node_modules/node-addon-api',
  'node_modules/node-gyp-build',
]

/** Returns the space on disk that a folder needs. */
function bytesOnDisk(folder: string): number {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return files.reduce((sum, name) => sum + statSync(join(folder, name)).blocks * 512, 0)
}

describe('the packed packages', () => {
  // The space in the name is intended.
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint install-'))
  const empty = join(folder, 'empty')
  const env = {
    ...cleanEnvironment(),
    HOME: folder,
    npm_config_cache: join(folder, 'cache'),
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
  }
  let child: ChildProcess
  let url = ''
  const installed = () => {
    const [name = ''] = readdirSync(join(folder, 'cache/_npx'))
    return join(folder, 'cache/_npx', name, 'node_modules')
  }

  beforeAll(async () => {
    mkdirSync(empty)
    const packing = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
    const { stdout } = await run('npm', [...packing, ...needed.map(name => `./${name}`)], { cwd: root })
    const packed = (JSON.parse(stdout) as readonly { filename: string }[]).map(({ filename }) => filename)
    const packages = packed.flatMap(name => ['--package', join(folder, name)])
    child = spawn('npx', [...packages, '--yes', '--', 'holdpoint', '--port', '0', '--json'], {
      cwd: empty,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = await once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), 'line')
    url = JSON.parse(line).url
  }, 120_000)
  afterAll(async () => {
    const ended = child.exitCode === null ? once(child, 'exit') : null
    await run(join(installed(), '.bin/holdpoint'), ['down'], { env })
    await ended
    rmSync(folder, { recursive: true, force: true })
  }, 60_000)

  it('`npx holdpoint` starts a gateway in an empty folder and serves the page', async () => {
    expect(await (await fetch(`${url}/healthz`)).json()).toMatchObject({ ok: true })
    const page = await (await fetch(url)).text()
    const [, script = ''] = /<script[^>]* src="([^"]+)"/.exec(page) ?? []
    const response = await fetch(new URL(script, url))
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining('javascript'),
    ])
    expect(statSync(join(folder, '.holdpoint/holdpoint.db')).size).toBeGreaterThan(0)
    expect(readdirSync(empty), 'the program writes nothing into the working folder').toEqual([])
  })
  it('a second `holdpoint` says where the first gateway runs', async () => {
    await expect(run(join(installed(), '.bin/holdpoint'), { cwd: empty, env })).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`Holdpoint is already running at ${url}`),
    })
  })
  it('an installation needs at most 40 MB, because only SQLite is a library of its own', () => {
    const names = readdirSync(installed()).filter(name => !name.startsWith('.'))
    expect(names.sort()).toEqual(['@holdpoint', '@photostructure', 'holdpoint', 'node-addon-api', 'node-gyp-build'])
    expect(readdirSync(join(installed(), '@holdpoint'))).toEqual(['web'])
    expect(bytesOnDisk(installed())).toBeLessThanOrEqual(sizeMax)
  })
  it('the installed program runs a session of an agent that imports @holdpoint/drivers, which is not installed', async () => {
    const agent = join(folder, 'agent.mjs')
    writeFileSync(
      agent,
      `import { defineAgent, say } from '@holdpoint/drivers'
export default defineAgent({ name: 'greeter', title: 'Greeter', async *run() { yield say('Hello from the agent.') } })`,
    )
    const home = join(folder, 'second home')
    mkdirSync(home, { mode: 0o700 })
    writeFileSync(join(home, 'holdpoint.config.json'), JSON.stringify({ agents: { greeter: agent } }), { mode: 0o600 })
    const { stdout } = await run(join(installed(), '.bin/holdpoint'), ['run', 'greeter', 'hi', '--home', home], {
      cwd: empty,
      env,
    })
    expect(stdout).toContain('Hello from the agent.')
  })
  it('`import("holdpoint")` exports the function that starts a gateway', async () => {
    const code = `import { startGateway } from 'holdpoint'; console.log(typeof startGateway)`
    const file = join(installed(), 'embedding.mjs')
    writeFileSync(file, code)
    expect((await run(process.execPath, [file])).stdout.trim()).toBe('function')
    rmSync(file)
  })
})
