/** Tests that the programs which Holdpoint starts get none of its environment variables, and that passwords do not appear in the list of processes. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import {
  closeGateways,
  type GatewayProcess,
  holdpoint,
  shortPause,
  startGateway,
} from '../../../test/support/gateway.ts'
import { editText } from '../src/tui/terminal/editor.ts'
import { environmentFor, runCli } from './support/cli-process.ts'

afterEach(closeGateways)

const ourVariables = {
  HOLDPOINT_TOKEN: 'hp_secret',
  HOLDPOINT_URL: 'http://127.0.0.1:1',
  HOLDPOINT_ANYTHING: 'x',
  KEPT: 'y',
}

/** Allows the next request. */
async function allowNext(gateway: GatewayProcess): Promise<void> {
  for (;;) {
    const [request] = (await gateway.call('listRequests', { status: 'pending' })).items
    if (request) {
      await gateway.call('answerRequest', { id: request.id, digest: request.digest, answer: { kind: 'allow' } })
      return
    }
    await shortPause()
  }
}

describe('holdpoint guard', () => {
  it('F19: holdpoint guard gives the command all variables except Holdpoint’s own', async () => {
    const gateway = await startGateway({ runner: 'none' })
    const env = {
      ...environmentFor(gateway),
      ...ourVariables,
      HOLDPOINT_TOKEN: gateway.token,
      HOLDPOINT_URL: gateway.url,
    }
    const running = runCli(['guard', '--', 'env'], { env, cwd: gateway.folder })
    await allowNext(gateway)
    const { out } = await running
    expect(out).toMatch(/^KEPT=y$/m)
    expect(out).not.toMatch(/HOLDPOINT_/)
  })

  it('F19: holdpoint guard passes on a variable that the command itself sets', async () => {
    const gateway = await startGateway({ runner: 'none' })
    const running = runCli(['guard', '--', 'env', 'HOLDPOINT_URL=http://example.com', 'printenv', 'HOLDPOINT_URL'], {
      env: environmentFor(gateway),
      cwd: gateway.folder,
    })
    await allowNext(gateway)
    expect((await running).out).toBe('http://example.com\n')
  })
})

it('F19: the environment of the person’s editor contains none of Holdpoint’s variables', async () => {
  const env = { ...process.env, ...ourVariables, VISUAL: `sh -c 'env > "$0"'` }
  const text = await editText('', '.md', env)
  expect(text).toMatch(/^KEPT=y$/m)
  expect(text).not.toMatch(/HOLDPOINT_/)
})

it('F19: a runner is started without Holdpoint’s variables, so that agents cannot read them in its environment', async () => {
  const store = { HOLDPOINT_STORE: 'file:kept.db' }
  const executables = { HOLDPOINT_CLAUDE: '/nowhere/claude', HOLDPOINT_CODEX_ACP: '/nowhere/codex' }
  const gateway = await startGateway({ env: { ...ourVariables, ...store, ...executables } })
  const environment = readFileSync(`/proc/${await gateway.runnerStarted()}/environ`, 'utf8')
  expect(environment.split('\0').filter(entry => entry.startsWith('HOLDPOINT_'))).toEqual([
    'HOLDPOINT_CLAUDE=/nowhere/claude',
    'HOLDPOINT_CODEX_ACP=/nowhere/codex',
  ])
})

it('L2: a password in --store is hidden from the list of processes, and a notice says how to keep the password out of the command line', async () => {
  const gateway = await startGateway({ runner: 'none' })
  const words = ['up', '--home', join(gateway.folder, 'other'), '--store', 'postgres://me:secret@127.0.0.1:1/db']
  const child = spawn(process.execPath, [holdpoint, ...words], { stdio: ['ignore', 'ignore', 'pipe'] })
  let err = ''
  const noticed = new Promise<void>(resolve => {
    child.stderr.on('data', chunk => {
      err += chunk
      if (err.includes('HOLDPOINT_STORE')) resolve()
    })
  })
  await noticed
  const title = readFileSync(`/proc/${child.pid}/cmdline`, 'utf8')
  child.kill('SIGKILL')
  expect(title).toContain('postgres://me:…@127.0.0.1:1/db')
  expect(title).not.toContain('secret')
  expect(err).not.toContain('secret')
})
