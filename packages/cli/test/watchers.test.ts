/** `holdpoint watch`, `vars` and `set` against a real gateway. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways, type GatewayProcess, startGateway } from '../../../test/support/gateway.ts'
import { rulesFindings } from '../src/commands/doctor-rules.ts'
import { runCliAgainst } from './support/cli-process.ts'

let gateway: GatewayProcess
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(closeGateways)

const ownFile = () => gateway.home.rulesFile
afterEach(() => rmSync(ownFile(), { force: true }))

async function holdpoint(...words: string[]): Promise<string> {
  const { code, out, err } = await runCliAgainst(gateway, words)
  expect([code, err], words.join(' ')).toEqual([0, ''])
  return out
}
async function refused(...words: string[]): Promise<{ readonly code: number | null; readonly err: string }> {
  const { code, err } = await runCliAgainst(gateway, words)
  return { code, err }
}

describe('ready-made watchers', () => {
  it('ready-made watchers are listed with their settings, and turned on and off in the person’s own file, which keeps its rules', async () => {
    writeFileSync(ownFile(), JSON.stringify({ rules: [{ effect: 'deny', command: 'git push' }] }))
    expect(await holdpoint('watch', 'ready')).toContain('tests-before-commit')
    expect(await holdpoint('watch', 'on', 'budget', '--with', 'cost=7')).toContain('budget is on for all folders')
    expect(await holdpoint('watch', 'on', 'loop-guard', '--cwd', gateway.folder)).toContain(gateway.folder)
    expect(JSON.parse(readFileSync(ownFile(), 'utf8'))).toEqual({
      rules: [{ effect: 'deny', command: 'git push' }],
      use: [
        { name: 'budget', with: { cost: 7 } },
        { name: 'loop-guard', cwd: gateway.folder },
      ],
    })
    expect(await holdpoint('watch', 'off', 'budget')).toContain('budget is off')
    expect(await refused('watch', 'off', 'loop-guard')).toMatchObject({ code: 3 })
    await holdpoint('watch', 'off', 'loop-guard', '--cwd', gateway.folder)
    expect(JSON.parse(readFileSync(ownFile(), 'utf8'))).toEqual({ rules: [{ effect: 'deny', command: 'git push' }] })
  })

  it('ready-made watchers with a wrong name, setting or value are refused with a message that lists the valid ones, and the file is not changed', async () => {
    expect(await refused('watch', 'on', 'bugdet')).toMatchObject({ code: 3, err: expect.stringContaining('budget') })
    expect(await refused('watch', 'on', 'budget', '--with', 'price=5')).toMatchObject({
      code: 2,
      err: expect.stringContaining('cost'),
    })
    expect(await refused('watch', 'on', 'budget', '--with', 'cost=much')).toMatchObject({
      code: 2,
      err: expect.stringContaining('cost must be a number'),
    })
    writeFileSync(ownFile(), '{"watch": 1}')
    expect(await refused('watch', 'on', 'budget')).toMatchObject({ code: 2, err: expect.stringContaining(ownFile()) })
    expect(readFileSync(ownFile(), 'utf8')).toBe('{"watch": 1}')
  })
})

describe('holdpoint watch check', () => {
  it('holdpoint watch check reports the line and column of a mistake, and the effects that an agent does not support', async () => {
    const file = join(gateway.folder, 'holdpoint.rules.json')
    writeFileSync(
      file,
      '{\n  "watch": [\n    {"name": "a", "on": "after", "when": "vars.gren", "do": {"say": "x"}}\n  ]\n}\n',
    )
    const { code, err } = await refused('watch', 'check', gateway.folder)
    expect(code).toBe(2)
    expect(err).toMatch(/line 3, column \d+/)
    writeFileSync(file, '{"watch": [{"name": "a", "on": "after", "do": {"say": "x"}}]}')
    const text = await holdpoint('watch', 'check', file)
    expect(text).toContain('1 watcher, 0 variables')
    expect(text).toMatch(/Codex: /)
    const hidesFailures = 'Codex in your own terminal: This agent does not report whether a command failed'
    expect(text, 'the watcher does not read the result').not.toContain(hidesFailures)
    writeFileSync(file, '{"watch": [{"name": "a", "on": "after", "when": "!result.ok", "do": {"say": "x"}}]}')
    expect(await holdpoint('watch', 'check', file)).toContain(hidesFailures)
    writeFileSync(ownFile(), '{"use": ["loop-guard"]}')
    expect(await holdpoint('watch', 'check')).toMatch(/1 watcher, 0 variables[\s\S]*loop-guard/)
    const [ofOwnFile] = rulesFindings(gateway.home, [], gateway.folder)
    expect(ofOwnFile?.detail, 'doctor counts watchers, too').toBe(`${ownFile()} (0 rules, 1 watcher)`)
    rmSync(file)
    expect(await holdpoint('watch', 'check')).not.toContain(file)
    expect(await refused('watch', 'check', gateway.folder)).toMatchObject({ code: 3 })
  })
})

describe('holdpoint vars and set', () => {
  it('holdpoint vars and set show and change the variables of a session, and refuse a wrong name or type', async () => {
    writeFileSync(
      ownFile(),
      JSON.stringify({
        vars: { green: false, task: { default: '', setBy: 'agent' } },
        watch: [{ name: 'w', on: 'stop', when: 'vars.green', do: { say: 'x' } }],
      }),
    )
    const { id } = await gateway.call('startSession', { driver: 'external', cwd: gateway.folder })
    expect(await holdpoint('vars', id)).toMatch(/green\s+false\s+default/)
    expect(await holdpoint('set', 'green', 'true', '--session', id)).toContain('green is now true.')
    expect(await holdpoint('vars', id)).toMatch(/green\s+true\s+owner/)
    expect(await refused('set', 'gren', 'true', '--session', id)).toMatchObject({
      code: 3,
      err: expect.stringContaining('Declared: green, task'),
    })
    expect(await refused('set', 'green', '1', '--session', id)).toMatchObject({ code: 2 })
    expect(await refused('set', 'green', 'true')).toMatchObject({ code: 2, err: expect.stringContaining('--session') })
    expect(await holdpoint('watch', 'list', '--session', id)).toContain('at the end of a turn: tells the agent')
  })

  it('holdpoint set that an agent runs sets only variables of the agent, and only in its own session', async () => {
    writeFileSync(
      ownFile(),
      JSON.stringify({
        vars: { green: false, task: { default: '', setBy: 'agent' } },
        watch: [{ name: 'w', on: 'stop', when: "vars.green && vars.task == ''", do: { say: 'x' } }],
      }),
    )
    const { id } = await gateway.call('startSession', { driver: 'external', cwd: gateway.folder })
    // The process of this test starts the command, as the process of an agent would.
    await gateway.call('appendEvents', {
      id,
      items: [{ type: 'session.changed', process: { state: 'live', pid: process.pid } }],
    })
    expect(await holdpoint('set', 'task', '#12')).toContain('task is now "#12".')
    expect(await refused('set', 'green', 'true')).toMatchObject({
      code: 1,
      err: expect.stringContaining('The agent may not set green'),
    })
    const { items } = await gateway.call('listVariables', { id })
    expect(items.find(({ name }) => name === 'task')).toMatchObject({ value: '#12', changedBy: 'agent' })
  })
})
