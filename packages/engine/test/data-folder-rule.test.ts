/** Tests the built-in rule for the data folder in every operation that evaluates rules. */
import { beforeEach, describe, expect, it } from 'vitest'
import { type AttachedAgent, approval, expectFault, type GatewayFixture, openFixture } from './gateway-fixture.ts'

const ruleId = 'rul_00000000000000000001'
const reason = expect.stringContaining('Built-in: Holdpoint’s own data folder')
/** `linked` is a symbolic link to the token. */
const realPath = (path: string) => (path === '/srv/linked' ? '/home/ana/.holdpoint/token' : null)
const dataFolder = { folder: '/home/ana/.holdpoint', home: '/home/ana', realPath }

let fixture: GatewayFixture
let agent: AttachedAgent
beforeEach(async () => {
  fixture = await openFixture({ dataFolder })
  agent = await fixture.startAttached('resumable', { cwd: '/srv' })
})
const check = (command: string, cwd?: string) =>
  fixture.runner('checkTool', {
    id: agent.session.id,
    tool: 'Bash',
    input: { command },
    fence: agent.fence,
    ...(cwd !== undefined && { cwd }),
  })

describe('the built-in rule for the data folder', () => {
  it('P11: the built-in rule for the data folder denies a request at once, as a rule that the audit log names', async () => {
    const request = await agent.ask('k', approval('cat ~/.holdpoint/token'))
    expect(request.resolution).toMatchObject({ by: 'rule', rule: ruleId, answer: { kind: 'deny', reason } })
    const { items } = await fixture.person('listAudit', {})
    expect(items).toMatchObject([{ kind: 'decision', request: request.id, resolution: { by: 'rule', rule: ruleId } }])
  })

  it('P11: the built-in rule for the data folder denies a call that the agent would run without asking', async () => {
    expect(await check('cat ~/.holdpoint/token')).toEqual({ verdict: 'deny', rule: ruleId, reason })
    expect(await check('cat linked')).toMatchObject({ verdict: 'deny', rule: ruleId })
    expect(await check('cat notes.txt')).toEqual({ verdict: 'ask', reason: 'No rule matches.' })
  })

  it('P11: the built-in rule for the data folder resolves paths from the session’s folder and from the folder in which the call runs', async () => {
    expect(await check('cat .holdpoint/token', '/home/ana')).toMatchObject({ verdict: 'deny' })
    const custom = await openFixture({ dataFolder: { ...dataFolder, folder: '/srv/keys' } })
    const { session, fence } = await custom.startAttached('resumable', { cwd: '/srv' })
    const input = { id: session.id, tool: 'Read', input: { file_path: 'keys/token' }, fence }
    expect(await custom.runner('checkTool', { ...input, cwd: '/tmp' })).toMatchObject({ verdict: 'deny' })
    expect(await custom.runner('checkTool', input)).toMatchObject({ verdict: 'deny' })
  })

  it('P11: the built-in rule for the data folder has precedence over a rule that allows exactly this call', async () => {
    const command = 'cat /home/ana/.holdpoint/token'
    await fixture.person('addRule', { effect: 'allow', tool: 'Bash', command, scope: { cwd: '/srv' } })
    expect(await check(command)).toMatchObject({ verdict: 'deny', rule: ruleId })
    expect((await agent.ask('k', approval(command))).resolution).toMatchObject({ rule: ruleId })
  })

  it('P8: the built-in rule for the data folder refuses an edited input that names the data folder, and the request stays pending', async () => {
    const request = await agent.ask('k', approval('ls'))
    const answer = { kind: 'allow', input: { command: 'cat ~/.holdpoint/token' } } as const
    await expectFault(
      fixture.person('answerRequest', { id: request.id, digest: request.digest, answer }),
      'answer_mismatch',
    )
    expect((await fixture.person('getRequest', { id: request.id })).status).toBe('pending')
  })

  it('P11: if a call is too long for the built-in rule to check, a person decides, even if another rule allows a part of the call', async () => {
    const command = `echo ${Array.from({ length: 3000 }, (_, index) => `word${index}`).join(' ')}`
    await fixture.person('addRule', { effect: 'allow', tool: 'Bash', command: 'echo', scope: { cwd: '/srv' } })
    expect(await check(command)).toMatchObject({ verdict: 'ask', rule: ruleId })
    expect((await agent.ask('k', approval(command, { title: 'Long' }))).status).toBe('pending')
  })

  it('P11: the built-in rule for the data folder is listed, also applies to a check of other rules, and cannot be removed', async () => {
    const listed = (await fixture.person('listRules', {})).items
    expect(listed).toMatchObject([
      { id: ruleId, effect: 'deny', note: 'Built-in: Holdpoint’s own data folder' },
      { effect: 'deny', note: 'Built-in: Holdpoint’s own credentials' },
    ])
    await expectFault(fixture.person('removeRule', { id: ruleId as (typeof listed)[number]['id'] }), 'forbidden')
    const ask = approval('cat ~/.holdpoint/token')
    expect(await fixture.person('checkRules', { ask, rules: [] })).toMatchObject({ verdict: 'deny', rule: ruleId })
  })

  it('P11: the built-in rule for the data folder applies to external agents, whichever folder they claim to run in', async () => {
    const { id } = await fixture.externalAgent('startSession', { driver: 'external', cwd: '/home/ana' })
    const ask = { ...approval('cat .holdpoint/token'), cwd: '/somewhere/else' }
    const { resolution } = await fixture.externalAgent('openRequest', { id, key: 'k', ask })
    expect(resolution).toMatchObject({ by: 'rule', rule: ruleId })
  })
})
