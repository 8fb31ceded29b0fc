/** Tests the installer of agents with a small npm registry on loopback. */
import { execFile, execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { locateAgent } from './install.mjs'

const [platformPackage, version] = Object.entries(locateAgent('opencode').dependencies)[0] as [string, string] // every pin has a dependency
const script = fileURLToPath(new URL('./install.mjs', import.meta.url))
let folder: string
let registry: Server
/** How often the registry sent the package's archive. */
let downloads = 0

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdpoint-install-'))
  const archive = packSmallPackage(join(folder, 'package'))
  registry = createServer((request, response) => {
    if (request.url?.endsWith('.tgz')) {
      downloads++
      return void response.end(archive)
    }
    const tarball = `http://${request.headers.host}/small.tgz`
    const versions = { [version]: { name: platformPackage, version, dist: { tarball } } }
    response.end(JSON.stringify({ name: platformPackage, 'dist-tags': { latest: version }, versions }))
  })
  await new Promise<void>(resolve => registry.listen(0, '127.0.0.1', resolve))
})
afterAll(() => {
  registry.close()
  registry.closeAllConnections()
  rmSync(folder, { recursive: true })
})

function packSmallPackage(source: string): Buffer {
  mkdirSync(join(source, 'bin'), { recursive: true })
  writeFileSync(join(source, 'package.json'), JSON.stringify({ name: platformPackage, version }))
  writeFileSync(join(source, 'bin', 'opencode'), '#!/bin/sh\n')
  chmodSync(join(source, 'bin', 'opencode'), 0o755)
  execFileSync('tar', ['-czf', `${source}.tgz`, '-C', folder, 'package'])
  return readFileSync(`${source}.tgz`)
}

/** Runs the installer with its own cache folder, and returns its exit code and output. */
function install(cache: string, registryUrl: string, args = ['opencode'], file = script) {
  const env = {
    ...process.env,
    CI: '1',
    HOLDPOINT_AGENT_CACHE: join(folder, cache),
    npm_config_registry: registryUrl,
    npm_config_cache: join(folder, `npm-${cache}`),
    npm_config_fetch_retries: '0',
  }
  return new Promise<{ code: unknown; output: string }>(resolve =>
    execFile(process.execPath, [file, ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, output: stdout + stderr }),
    ),
  )
}
const registryUrl = () => `http://127.0.0.1:${(registry.address() as AddressInfo).port}/` // a listening TCP server has an AddressInfo

it('two installers that start at once download an agent once, and a third installer finds the agent installed', async () => {
  const [first, second] = await Promise.all([install('shared', registryUrl()), install('shared', registryUrl())])
  const third = await install('shared', registryUrl())

  expect([first.code, second.code, third.code], first.output + second.output).toEqual([0, 0, 0])
  expect(downloads).toBe(1)
  expect(first.output + second.output).toContain(`opencode: downloading ${platformPackage}@${version}`)
  expect(third.output).toBe('')
  expect(readdirSync(join(folder, 'shared'))).toHaveLength(1)
})

it('the installer says which agent could not be downloaded and why, and leaves nothing in the cache', async () => {
  const failed = await install('failed', 'http://127.0.0.1:9/')

  expect(failed.code).toBe(1)
  expect(failed.output).toContain(
    `opencode could not be installed from the npm registry (${platformPackage}@${version})`,
  )
  expect(failed.output).toContain('ECONNREFUSED')
  expect(readdirSync(join(folder, 'failed'))).toEqual([])
})

it('the tests with real agents fail under CI if an agent cannot be installed', async () => {
  const run = fileURLToPath(new URL('./run.mjs', import.meta.url))
  const failed = await install('run', 'http://127.0.0.1:9/', ['--only', 'opencode'], run)

  expect(failed.code).toBe(1)
  expect(failed.output).toContain('CI must test every agent, but opencode could not be installed.')
})
