import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways, type GatewayProcess, makeFolder, startGateway } from '../../../test/support/gateway.ts'
import { type CliResult, environmentFor, runCli } from './support/cli-process.ts'

describe('holdpoint open', () => {
  let gateway: GatewayProcess
  const opened = () => join(gateway.folder, 'opened')
  beforeAll(async () => {
    gateway = await startGateway({ runner: 'none' })
  })
  afterAll(closeGateways)

  /** Runs the command on a machine whose `xdg-open` and `open` end with this exit code. */
  function open(exitCode: number, display: NodeJS.ProcessEnv): Promise<CliResult> {
    const bin = makeFolder(gateway, 'bin')
    for (const name of ['xdg-open', 'open']) {
      writeFileSync(join(bin, name), `#!/bin/sh\nprintf %s "$1" > "${opened()}"\nexit ${exitCode}\n`)
      chmodSync(join(bin, name), 0o755)
    }
    rmSync(opened(), { force: true })
    const { DISPLAY: _, WAYLAND_DISPLAY: __, BROWSER: ___, ...env } = environmentFor(gateway)
    return runCli(['open'], { env: { ...env, ...display, PATH: `${bin}${delimiter}${process.env.PATH}` } })
  }
  const codeIn = (text: string) => /#code=(\w[\w-]*)/.exec(text)?.[1] ?? ''

  it('holdpoint open gives the browser a private file that leads to the page and signs in, and prints the link too', async () => {
    const { code, out } = await open(0, { DISPLAY: ':0' })
    expect([code, out]).toEqual([0, expect.stringContaining('Opened Holdpoint in your browser')])
    const address = readFileSync(opened(), 'utf8')
    // Other users of the machine can read the arguments of programs.
    expect(address).not.toContain('code=')
    const file = fileURLToPath(address)
    expect(statSync(file).mode & 0o077).toBe(0)
    const page = readFileSync(file, 'utf8')
    expect(page).toContain(`content="0; url=${gateway.url}/#code=${codeIn(out)}"`)
    expect(await gateway.call('describeLink', { code: codeIn(page) })).toMatchObject({ person: 'owner' })
  })
  it('holdpoint open prints the link on a machine without a display, and starts no browser', async () => {
    const { code, out } = await open(0, {})
    expect([code, out]).toEqual([0, expect.stringContaining('No browser could be opened here')])
    expect(codeIn(out)).not.toBe('')
    expect(existsSync(opened())).toBe(false)
  })
  it('holdpoint open prints the link if no browser can be opened', async () => {
    const { code, out } = await open(3, { WAYLAND_DISPLAY: 'wayland-0' })
    expect([code, out]).toEqual([0, expect.stringContaining('No browser could be opened here')])
    expect(codeIn(out)).not.toBe('')
  })
  it('holdpoint open says how to start a gateway if none runs', async () => {
    const { code, err } = await runCli(['open', '--home', makeFolder(gateway, 'other')])
    expect([code, err]).toEqual([5, expect.stringContaining('Start one with: holdpoint up')])
  })
})
