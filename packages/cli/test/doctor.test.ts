import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import {
  cleanEnvironment,
  closeGateways,
  GatewayProcess,
  shortPause,
  startGateway,
  trustConfigIn,
} from '../../../test/support/gateway.ts'
import { nodeFinding } from '../src/commands/doctor.ts'
import { runCli, runCliAgainst } from './support/cli-process.ts'

afterEach(closeGateways)

interface Finding {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
  readonly remedy?: string
  readonly notInstalled?: string
}
async function runDoctor(gateway: GatewayProcess, ...words: string[]) {
  const { code, out } = await runCliAgainst(gateway, ['doctor', '--json', ...words])
  const { ok, findings } = JSON.parse(out) as { ok: boolean; findings: readonly Finding[] } // with --json, `doctor` prints an object with these fields
  expect(code).toBe(ok ? 0 : 1)
  for (const finding of findings)
    if (!finding.ok) expect([finding.name, finding.remedy]).toEqual([finding.name, expect.any(String)])
  return {
    ok,
    problems: findings.filter(finding => !finding.ok),
    of: (name: string) => findings.filter(finding => finding.name === name),
  }
}
const leftovers = () => readdirSync(tmpdir()).filter(name => name.startsWith('holdpoint-doctor-'))

describe('holdpoint doctor', () => {
  it('holdpoint doctor finds no problems if everything is running and someone is signed in', async () => {
    const gateway = await startGateway({ env: { ANTHROPIC_API_KEY: 'a key' } })
    while (!(await gateway.call('listRunners', {})).items.some(({ live }) => live)) await shortPause()
    const { ok, of } = await runDoctor(gateway)
    expect(ok).toBe(true)
    expect(of('Gateway')[0]?.detail).toMatch(new RegExp(`^${gateway.url}, as owner, \\d`))
    expect(of('Runner')[0]?.detail).toMatch(/, \d+\.\d+\.\d+$/)
    expect(of('Store')[0]?.detail).toMatch(/in use by the gateway/)
    expect(of('Agent').map(({ detail }) => detail)).toEqual(
      expect.arrayContaining([expect.stringMatching(/Claude Code: ready/)]),
    )
    const { code, out } = await runCliAgainst(gateway, ['doctor'])
    expect([code, out]).toEqual([0, expect.stringMatching(/✓ Gateway[\s\S]*No problems found\.\n$/)])
  })

  it('holdpoint doctor lists agents that are not installed in one line without a remedy, because nobody needs all of them', async () => {
    const gateway = new GatewayProcess({ env: { PATH: '/usr/bin:/bin' } })
    const { of } = await runDoctor(gateway)
    const goose = of('Agent').find(({ detail }) => detail.startsWith('Goose'))
    expect(goose).toMatchObject({ ok: true, notInstalled: 'goose', remedy: expect.stringContaining('install it') })
    const { out } = await runCliAgainst(gateway, ['doctor'])
    expect(out).toMatch(/^· Agents +not installed: codex, .*goose, .*copilot/m)
    expect(out).toContain('`holdpoint start NAME` says how to install one.')
    expect(out).not.toMatch(/[!✗] Agent .*not installed/)
  })

  it('holdpoint doctor says that no gateway is running and how to start one, and creates no files', async () => {
    const gateway = new GatewayProcess({})
    const { problems, of } = await runDoctor(gateway)
    expect(problems).toContainEqual({ name: 'Gateway', ok: false, detail: 'not running', remedy: 'holdpoint up' })
    expect(of('Store')[0]).toMatchObject({ ok: true, detail: expect.stringMatching(/created on first start/) })
    expect(of('SQLite')[0]).toMatchObject({ ok: true })
    expect(readdirSync(gateway.home.path)).toEqual([])
  })

  it('holdpoint doctor checks the database of a stopped gateway on a copy and leaves the original unchanged', async () => {
    const gateway = await startGateway({ runner: 'none' })
    await gateway.call('startSession', { driver: 'external', title: 'kept' })
    await gateway.kill()
    const before = readdirSync(gateway.home.path)
    const leftoversBefore = leftovers()
    expect((await runDoctor(gateway)).of('Store')[0]).toMatchObject({ ok: true })
    expect(readdirSync(gateway.home.path)).toEqual(before)
    expect(leftovers()).toEqual(leftoversBefore)
    rmSync(`${gateway.home.databaseFile}-wal`)
    writeFileSync(
      gateway.home.databaseFile,
      'this is not a database, but it is long enough to look like one'.repeat(100),
    )
    expect((await runDoctor(gateway)).of('Store')[0]).toMatchObject({
      ok: false,
      detail: expect.stringMatching(new RegExp(`^${gateway.home.databaseFile} is damaged`)),
      remedy: expect.stringMatching(/holdpoint restore/),
    })
  })

  it('holdpoint doctor reports invalid settings and runs the other checks', async () => {
    const gateway = new GatewayProcess({})
    const file = join(gateway.folder, 'holdpoint.config.json')
    const cases = [
      ['{"port": 4747', `${file}: This is not valid JSON`],
      ['{"port": "many"}', `${file}: port must be a whole number`],
    ] as const
    for (const [text, sentence] of cases) {
      writeFileSync(file, text)
      const { problems, of } = await runDoctor(gateway)
      expect(problems).toContainEqual({
        name: 'Settings',
        ok: false,
        detail: expect.stringContaining(sentence),
        remedy: expect.any(String),
      })
      expect(of('SQLite')[0]).toMatchObject({ ok: true })
    }
    writeFileSync(file, '{"store": "here"}')
    trustConfigIn(gateway.folder, gateway.home)
    expect((await runDoctor(gateway)).of('Store')[0]).toMatchObject({
      ok: false,
      detail: expect.stringMatching(/store must be/),
      remedy: expect.stringMatching(/HOLDPOINT_STORE/),
    })
  })

  it('holdpoint doctor reports an unusable data folder, runs the other checks, and creates no files', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdpoint-test-'))
    writeFileSync(join(folder, 'file'), '')
    for (const home of ['/proc/x', join(folder, 'file'), join(folder, 'file', 'deep', 'home')]) {
      const { code, out } = await runCli(['doctor', '--json', '--home', home], { cwd: folder })
      const { ok, findings } = JSON.parse(out) as { ok: boolean; findings: readonly Finding[] } // with --json, `doctor` prints an object with these fields
      expect([code, ok]).toEqual([1, false])
      const named = (wanted: string) => findings.find(({ name }) => name === wanted)
      expect(named('Data folder')).toEqual({
        name: 'Data folder',
        ok: false,
        detail: expect.stringMatching(new RegExp(`^${home} cannot be used \\(E`)),
        remedy: expect.stringContaining('HOLDPOINT_HOME'),
      })
      expect([named('SQLite')?.ok, named('Gateway')?.detail]).toEqual([true, 'not running'])
    }
    const fresh = join(folder, 'deep', 'home')
    const { out } = await runCli(['doctor', '--home', fresh], { cwd: folder })
    expect(out).toContain(`${fresh}, created on first start`)
    expect(await runCli(['inbox', '--home', fresh])).toMatchObject({ code: 5 })
    expect(readdirSync(folder), 'doctor and inbox create nothing').toEqual(['file'])
    rmSync(folder, { recursive: true })
  })

  it('holdpoint doctor suggests fixing a wrong token or URL instead of starting a gateway', async () => {
    const gateway = await startGateway({ runner: 'none' })
    const home = join(gateway.folder, 'nobody')
    const env = { ...cleanEnvironment(), HOLDPOINT_HOME: home, HOLDPOINT_URL: gateway.url }
    for (const [changed, remedy] of [
      [{ HOLDPOINT_TOKEN: 'hp_wrong' }, /^set HOLDPOINT_TOKEN/],
      [{}, /^set HOLDPOINT_TOKEN/],
      [{ HOLDPOINT_URL: 'nonsense' }, /^set --url or HOLDPOINT_URL/],
    ] as const) {
      const { code, out } = await runCli(['doctor', '--json'], { env: { ...env, ...changed }, cwd: gateway.folder })
      const { findings } = JSON.parse(out) as { findings: readonly Finding[] } // with --json, `doctor` prints an object with these fields
      expect([code, findings.find(({ name }) => name === 'Gateway')?.remedy]).toEqual([
        1,
        expect.stringMatching(remedy),
      ])
    }
  })

  it.each(['with', 'without'] as const)(
    'holdpoint doctor reports no problem if an agent is not installed or not tested (%s a gateway)',
    async way => {
      const goose = join(mkdtempSync(join(tmpdir(), 'holdpoint-test-')), 'goose')
      writeFileSync(goose, '#!/bin/sh\necho 1.99.0\n', { mode: 0o755 })
      const env = { HOLDPOINT_GOOSE: goose, PATH: '/usr/bin:/bin', ANTHROPIC_API_KEY: 'a key' }
      const gateway = way === 'with' ? await startGateway({ env }) : new GatewayProcess({})
      while (way === 'with' && !(await gateway.call('listRunners', {})).items.some(({ live }) => live))
        await shortPause()
      const { out } = await runCli(['doctor', '--json', '--home', gateway.home.path], {
        cwd: gateway.folder,
        env: { ...cleanEnvironment(), ...env },
      })
      const { findings } = JSON.parse(out) as { findings: readonly Finding[] } // with --json, `doctor` prints an object with these fields
      expect(findings.filter(({ ok, name }) => !ok && name !== 'Gateway')).toEqual([])
      expect(findings).toContainEqual({
        name: 'Agent',
        ok: true,
        detail: 'Gemini: not installed',
        remedy: expect.stringContaining('npm install -g @google/gemini-cli'),
        notInstalled: 'gemini',
      })
      expect(findings).toContainEqual({
        name: 'Agent',
        ok: true,
        detail: 'Goose: installed',
        remedy: expect.stringContaining('Goose 1.99.0 was not tested'),
      })
      rmSync(join(goose, '..'), { recursive: true })
    },
  )

  it('holdpoint doctor prints a hint but reports no problem if nobody is signed in to Claude Code', async () => {
    const gateway = await startGateway({
      runner: 'inline',
      env: { ANTHROPIC_API_KEY: '', CLAUDE_CONFIG_DIR: '/nowhere' },
    })
    while (!(await gateway.call('listRunners', {})).items.some(({ live }) => live)) await shortPause()
    const { ok, of } = await runDoctor(gateway)
    const claude = of('Agent').find(({ detail }) => detail === 'Claude Code: installed')
    expect([ok, claude?.ok, claude?.remedy]).toEqual([true, true, expect.stringMatching(/signed in/)])
    const { code, out } = await runCliAgainst(gateway, ['doctor'])
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/! Agent +Claude Code: installed\n +→ [\s\S]*No problems found\.\n$/),
    ])
  })

  it('holdpoint doctor reports file modes, a missing runner, a missing executable, and an unreachable database or gateway', async () => {
    const gateway = await startGateway({ runner: 'none' })
    chmodSync(gateway.home.tokenFile, 0o644)
    const home = join(gateway.folder, 'nobody')
    mkdirSync(home)
    writeFileSync(join(gateway.folder, 'holdpoint.config.json'), JSON.stringify({ claude: './no-claude' }))
    trustConfigIn(gateway.folder, gateway.home)
    const { problems } = await runDoctor(gateway)
    expect(problems).toEqual([
      expect.objectContaining({ name: 'Token', remedy: `chmod go= ${gateway.home.tokenFile}` }),
      expect.objectContaining({ name: 'Runner', remedy: expect.stringMatching(/holdpoint runner/) }),
      expect.objectContaining({
        name: 'Agent',
        remedy: expect.stringMatching(new RegExp(`${gateway.folder}/no-claude is not an executable file`)),
      }),
    ])
    const store = await runDoctor(gateway, '--store', 'postgres://user:secret@127.0.0.1:1/db')
    expect(store.of('Store')[0]).toMatchObject({
      ok: false,
      detail: expect.stringMatching(/^postgres:\/\/127\.0\.0\.1:1\/db: /),
    })
    const away = await runDoctor(gateway, '--url', 'http://127.0.0.1:1')
    expect(away.of('Gateway')[0]).toMatchObject({ ok: false, detail: expect.stringMatching(/Cannot reach/) })
  })

  it('holdpoint doctor reports a Node version that is too old', () => {
    expect(['18.20.0', '20.18.3', '20.19.0', '24.1.0'].map(version => nodeFinding(version).ok)).toEqual([
      false,
      false,
      true,
      true,
    ])
  })
})
