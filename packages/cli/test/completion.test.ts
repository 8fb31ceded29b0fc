import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  closeGateways,
  type GatewayProcess,
  holdpoint,
  shortPause,
  startGateway,
} from '../../../test/support/gateway.ts'
import { bash, runCli, runCliAgainst } from './support/cli-process.ts'
import { approvalAsk, askAsExternalAgent } from './support/gateway-fixture.ts'

let gateway: GatewayProcess
beforeAll(async () => {
  gateway = await startGateway({ runner: 'none' })
})
afterAll(closeGateways)

const completed = (...words: string[]) => completedAt(gateway, ...words)
async function completedAt(target: GatewayProcess, ...words: string[]): Promise<string[]> {
  const { code, out } = await runCliAgainst(target, ['complete', '--', ...words])
  expect(code).toBe(0)
  return out
    .split('\n')
    .filter(Boolean)
    .map(line => line.split('\t')[0] ?? '')
}

describe('completion', () => {
  it('completion offers commands, options and the ids of pending requests and live sessions', async () => {
    expect(await completed('')).toEqual(
      expect.arrayContaining(['up', 'inbox', 'allow', 'ask', 'guard', 'doctor', 'completion']),
    )
    expect(await completed('')).not.toContain('complete')
    expect(await completed('in')).toEqual(['inbox', 'interrupt'])
    expect(await completed('deny', '--')).toEqual([
      '--url',
      '--home',
      '--reason',
      '--ask',
      '--comment',
      '--stop',
      '--json',
    ])
    expect(await completed('allow', '--com')).toEqual(['--comment'])
    expect(await completed('mod')).toEqual(['mode', 'model'])
    expect(await completed('completion', '')).toEqual(['bash', 'zsh', 'fish'])
    const approval = await askAsExternalAgent(gateway, approvalAsk({ command: 'make\u001b[2J' }))
    const form = await askAsExternalAgent(gateway, {
      kind: 'form',
      title: 'F',
      message: '',
      schema: { type: 'object', properties: {} },
    })
    expect((await completed('show', 'req_')).sort()).toEqual([approval.id, form.id].sort())
    expect(await completed('allow', '')).toEqual([approval.id])
    expect(await completed('answer', '')).toEqual([form.id])
    expect(await completed('deny', '--reason', 'no', approval.id.slice(0, 10))).toEqual([approval.id])
    expect((await completed('deny', approval.id, '')).sort(), 'another request').toEqual([form.id])
    expect((await completed('send', '')).sort()).toEqual([approval.session, form.session].sort())
    expect(await completed('inbox', '--session', form.session.slice(0, 12))).toEqual([form.session])
    expect(await completed('deny', '--reason', '')).toEqual([])
    expect(await completed('help', 'do')).toEqual(['down', 'doctor'])
    expect(await completed('help', 'inbox', '')).toEqual([])
    expect(await completed('sessions', '--state', '')).toEqual([
      'starting',
      'working',
      'idle',
      'parked',
      'disconnected',
      'ended',
    ])
    expect(await completed('up', '--runner', 'in')).toEqual(['inline'])
    const { out } = await runCliAgainst(gateway, ['complete', '--', 'allow', ''])
    expect(out).toBe(`${approval.id}\tRun a command: make\\u{1b}[2J\n`)
  })

  it('completion offers the modes of the driver or session that was typed', async () => {
    const inline = await startGateway({ runner: 'inline' })
    while (!(await inline.call('listRunners', {})).items.some(({ live }) => live)) await shortPause()
    const { items } = await inline.call('listDrivers', {})
    const modesOf = (driver: string) => items.find(({ name }) => name === driver)?.modes ?? []
    const { id } = await inline.call('startSession', { driver: 'rehearsal', prompt: 'short' })
    expect(modesOf('rehearsal')).not.toEqual(modesOf('claude'))
    expect(await completedAt(inline, 'mode', id, '')).toEqual(modesOf('rehearsal'))
    expect(await completedAt(inline, 'start', 'rehearsal', '--mode', '')).toEqual(modesOf('rehearsal'))
    expect(await completedAt(inline, 'start', '--mode', '')).toEqual(expect.arrayContaining([...modesOf('claude')]))
  })

  it('completion offers nothing and does not fail if the command is unknown or the gateway is unreachable', async () => {
    expect(await completed('dance', '')).toEqual([])
    const noGateway = await runCli(['complete', '--', 'show', ''], {
      env: { ...process.env, HOLDPOINT_HOME: join(gateway.folder, 'nobody') },
    })
    expect(noGateway).toMatchObject({ code: 0, out: '' })
    const unreachable = { ...process.env, HOLDPOINT_URL: 'http://127.0.0.1:1', HOLDPOINT_TOKEN: 'x' }
    expect(await runCli(['complete', '--', 'show', ''], { env: unreachable })).toMatchObject({ code: 0, out: '' })
  })

  it('completion completes a command line in bash', async () => {
    const bin = join(gateway.folder, 'bin')
    mkdirSync(bin)
    writeFileSync(join(bin, 'holdpoint'), `#!/bin/sh\nexec ${process.execPath} ${holdpoint} "$@"\n`)
    chmodSync(join(bin, 'holdpoint'), 0o755)
    const { code, out } = await bash(
      gateway,
      `PATH=${bin}:$PATH; unset -f holdpoint; source <(holdpoint completion bash)
       COMP_WORDS=(holdpoint ses); COMP_CWORD=1; _holdpoint; echo "\${COMPREPLY[*]}"
       COMP_WORDS=(holdpoint allow --no); COMP_CWORD=2; _holdpoint; echo "\${COMPREPLY[*]}"; complete -p holdpoint`,
    )
    expect([code, out]).toEqual([0, 'sessions\n--note\ncomplete -F _holdpoint holdpoint\n'])
  })

  // Not every machine has these shells, so the test checks only the printed script.
  it.each(['zsh', 'fish'])('completion prints a script for %s', async shell => {
    const { code, out } = await runCli(['completion', shell])
    expect([code, out]).toEqual([0, expect.stringContaining('holdpoint complete -- ')])
  })

  it('completion exits with 2 for an unknown shell', async () => {
    expect(await runCli(['completion', 'tcsh'])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/bash, zsh, fish/),
    })
  })
})
