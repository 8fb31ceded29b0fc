/** Tests what the verdict of rules depends on besides the call: the machine and the folder of the agent, the files with rules there, and how often rules were used. */
import type { Ask, Input, JsonObject, SessionId } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { defaultSettings } from '../src/index.ts'
import type { RuleFile, RuleFileReader } from '../src/rule-files.ts'
import {
  type AttachedAgent,
  approval,
  expectFault,
  type GatewayFixture,
  openFixture,
  runnerId,
  runPendingWork,
  secretAsk,
} from './gateway-fixture.ts'

/** Only these paths exist. `/link` leads to `/srv`, and `/srv/notes` to a secret. */
const existing: Readonly<Record<string, string>> = {
  '/': '/',
  '/srv': '/srv',
  '/home/ada': '/home/ada',
  '/link': '/srv',
  '/srv/a.txt': '/srv/a.txt',
  '/srv/.env': '/srv/.env',
  '/srv/notes': '/srv/.env',
}
const files = { realPath: (path: string) => existing[path] ?? null }
const machine = { runner: runnerId(0), home: '/home/ada', files }
const scope = { cwd: '/srv' }

let fixture: GatewayFixture
beforeEach(async () => {
  fixture = await openFixture({ machine })
})

const addRule = (rule: Partial<Input<'addRule'>>) => fixture.person('addRule', { effect: 'allow', scope, ...rule })
const fileAsk = (kind: 'read' | 'write', path: string): Ask =>
  approval('', { tool: 'File', input: { path }, action: kind === 'read' ? { read: [path] } : { write: [path] } })
/** Sessions in a folder: of the runner on this machine, of a runner on another machine, and external ones. */
const local = (cwd = '/srv') => fixture.startAttached('resumable', { cwd })
const remote = (cwd = '/srv') => fixture.startAttached('resumable', { cwd }, 1)
const external = async (
  opener: 'person' | 'externalAgent',
  input: Partial<Input<'startSession'>> = { cwd: '/srv' },
) => {
  const { id } = await fixture[opener]('startSession', { driver: 'external', ...input })
  return { ask: (key: string, ask: Ask) => fixture[opener]('openRequest', { id, key, ask }) }
}
type Asker = Pick<AttachedAgent, 'ask'>
let keys = 0
const statusOf = async (agent: Asker, ask: Ask) => (await agent.ask(`k${keys++}`, ask)).status
const answerOf = async (agent: Asker, ask: Ask) => (await agent.ask(`k${keys++}`, ask)).resolution?.answer?.kind

describe('the files of an agent', () => {
  it('the files of an agent are looked up only if the agent runs on the machine of the gateway', async () => {
    await addRule({ action: 'read', path: '/srv/a.txt' })
    const ask = fileAsk('read', '/srv/a.txt')
    expect(await statusOf(await local(), ask)).toBe('resolved')
    expect(await statusOf(await remote(), ask)).toBe('pending')
    expect(await statusOf(await external('person'), ask)).toBe('pending')
    // A check is for a session that no runner has attached to.
    expect(await fixture.person('checkRules', { ask })).toMatchObject({ verdict: 'allow' })
  })
  it('the files of an agent on another machine are not looked up on the gateway’s machine while the session is parked', async () => {
    const ask = fileAsk('read', '/srv/a.txt')
    const park = async (agent: AttachedAgent, n: number) => {
      const request = await agent.ask('k', ask)
      const { id } = agent.session
      await fixture.runnerCall(n)('detachSession', { id, fence: agent.fence })
      expect(await fixture.person('getSession', { id })).toMatchObject({ state: 'parked' })
      return request
    }
    const here = await park(await local(), 0)
    const elsewhere = await park(await remote(), 1)
    await addRule({ action: 'read', path: '/srv/a.txt' })
    await runPendingWork()
    expect(await fixture.person('getRequest', { id: here.id })).toMatchObject({ status: 'resolved' })
    expect(await fixture.person('getRequest', { id: elsewhere.id })).toMatchObject({ status: 'pending' })
    const check = await fixture.person('checkRules', { ask, session: elsewhere.session })
    expect(check).toMatchObject({ verdict: 'ask' })
  })
  it('a rule for an exact command needs no lookup of the agent’s files', async () => {
    await addRule({ command: 'make' })
    for (const agent of [await local(), await remote(), await external('person')])
      expect(await statusOf(agent, approval('make'))).toBe('resolved')
    await fixture.open()
    expect(await statusOf(await remote(), approval('make'))).toBe('resolved')
  })
  it('a path with ~ means the home folder of the machine on which the agent runs', async () => {
    await addRule({ effect: 'deny', path: '/home/ada/keys' })
    expect(await answerOf(await local(), approval('cat ~/keys'))).toBe('deny')
    expect(await statusOf(await remote(), approval('cat ~/keys'))).toBe('pending')
  })
})

describe('checkRules', () => {
  const check = (more: Partial<Input<'checkRules'>> = {}) =>
    fixture.person('checkRules', { ask: approval('make'), ...more })

  it('checkRules for a session applies the rules of that session and not those of another session', async () => {
    const [agent, other] = [await local(), await local()]
    await addRule({ command: 'make', scope: { session: agent.session.id } })
    expect(await check({ session: agent.session.id })).toMatchObject({ verdict: 'allow' })
    expect(await check({ session: other.session.id })).toMatchObject({ verdict: 'ask' })
    expect(await check()).toMatchObject({ verdict: 'ask' })
  })
  it('checkRules does not apply a rule whose uses are used up, or whose turn has ended', async () => {
    const agent = await local()
    const { id } = agent.session
    const rule = await addRule({ command: 'make', usesLeft: 1 })
    expect(await check()).toMatchObject({ verdict: 'allow', rule: rule.id })
    expect(await statusOf(agent, approval('make'))).toBe('resolved')
    expect(await check()).toMatchObject({ verdict: 'ask' })
    expect(await check({ session: id })).toMatchObject({ verdict: 'ask' })
    await addRule({ command: 'make', scope: { session: id }, until: 'session' })
    expect(await check({ session: id })).toMatchObject({ verdict: 'allow' })
    await fixture.person('endSession', { id })
    expect(await check({ session: id })).toMatchObject({ verdict: 'ask' })
  })
  it('checkRules for a session on another machine looks up no files on the gateway’s machine', async () => {
    await addRule({ action: 'read', path: '/srv/a.txt' })
    const ask = fileAsk('read', '/srv/a.txt')
    const [here, elsewhere] = [await local(), await remote()]
    expect(await check({ ask, session: here.session.id })).toMatchObject({ verdict: 'allow' })
    expect(await check({ ask, session: elsewhere.session.id })).toMatchObject({ verdict: 'ask' })
  })
  it('checkRules is refused for a session that does not exist', async () => {
    await expectFault(check({ session: 'ses_00000000000000000000' as SessionId }), 'not_found')
  })
})

describe('the folder of a session', () => {
  it('the folder of a session is compared with its symbolic links resolved, or as written if it does not exist', async () => {
    await addRule({ command: 'make' })
    expect(await statusOf(await local('/link'), approval('make'))).toBe('resolved')
    expect(await statusOf(await local('/srv/link'), approval('make'))).toBe('pending')
    await addRule({ command: 'make', scope: { cwd: '/gone' } })
    expect(await statusOf(await local('/gone'), approval('make', { cwd: '/gone' }))).toBe('resolved')
  })
  it('the folder of a session is not used by rules if only an agent has named it', async () => {
    await addRule({ command: 'make' })
    expect(await statusOf(await external('person'), approval('make'))).toBe('resolved')
    expect(await statusOf(await external('externalAgent'), approval('make'))).toBe('pending')
  })
  it('the folder of a session is used by rules that deny or ask, but not by rules that allow, if a person’s program opened the session and says that its client has named the folder', async () => {
    await addRule({ command: 'make' })
    await addRule({ host: 'a.test', scope: {} })
    const fetch = approval('', { tool: 'Fetch', input: { url: 'https://a.test/' }, action: { fetch: 'a.test' } })
    await addRule({ effect: 'deny', command: 'rm' })
    const claimed = () => external('person', { cwd: '/srv', options: { folderIsClaimed: true } })
    expect(await statusOf(await claimed(), approval('make'))).toBe('pending')
    expect(await statusOf(await claimed(), fetch)).toBe('pending')
    expect(await answerOf(await claimed(), approval('rm x'))).toBe('deny')
    expect(await answerOf(await claimed(), approval('rm x', { cwd: '/elsewhere' }))).toBe('deny')
    const { id } = await (await claimed()).ask('proposed', approval('make'))
    const reason = 'Holdpoint does not know in which folder this agent runs.'
    expect(await fixture.person('proposeRules', { id })).toEqual({ items: [], reason })
    const known = await external('person', { cwd: '/srv', options: { folderIsClaimed: false } })
    expect(await statusOf(known, approval('make'))).toBe('resolved')
  })
  it('the folder of a session is not used by rules if the session has no folder', async () => {
    await addRule({ host: 'a.test', scope: {} })
    const ask = approval('', { tool: 'Fetch', input: { url: 'https://a.test/' }, action: { fetch: 'a.test' } })
    expect(await statusOf(await external('person', {}), ask)).toBe('pending')
    expect(await statusOf(await external('person'), ask)).toBe('resolved')
  })
})

describe('rules that come from a file', () => {
  const ownFile = '/home/ada/.holdpoint/holdpoint.rules.json'
  const file = '/srv/holdpoint.rules.json'
  /** The folders that the reader was asked for since the list was last cleared. */
  const looked: { folders: string[]; files: string[] } = { folders: [], files: [] }
  const project: RuleFile = {
    file,
    folder: '/srv',
    trust: 'trusted',
    content: {
      kind: 'rules',
      rules: [
        { effect: 'allow', command: 'make', scope },
        { effect: 'deny', command: 'rm', scope },
      ],
      vars: {},
      watchers: [],
    },
  }
  const missing: RuleFile = { file: ownFile, folder: null, trust: 'new', content: { kind: 'missing' } }
  const ruleFiles: RuleFileReader = {
    ownFile,
    filesFor: folder => {
      looked.folders.push(folder)
      return folder === '/srv' ? [file] : []
    },
    read: path => {
      looked.files.push(path)
      return path === file ? project : missing
    },
  }
  const lookedFor = async (agent: Asker) => {
    looked.folders = []
    looked.files = []
    await agent.ask(`k${keys++}`, approval('make'))
    return looked
  }
  beforeEach(async () => {
    fixture = await openFixture({ machine: { ...machine, ruleFiles } })
  })

  it('rules that come from a file apply to agents on the machine of the file', async () => {
    const agent = await local()
    expect(await answerOf(agent, approval('make'))).toBe('allow')
    expect(await answerOf(agent, approval('rm x'))).toBe('deny')
    expect(await fixture.person('checkRules', { ask: approval('make') })).toMatchObject({ verdict: 'allow' })
    const other = await remote()
    expect(await statusOf(other, approval('make'))).toBe('pending')
    expect(await statusOf(other, approval('rm x'))).toBe('pending')
  })
  it('rules that come from a file can deny or ask, but not allow, if the machine of the agent is not known', async () => {
    const agent = await external('person')
    expect(await statusOf(agent, approval('make'))).toBe('pending')
    expect(await answerOf(agent, approval('rm x'))).toBe('deny')
  })
  it('rules are read from files in the real folder of the session, or in the nearest folder above it that exists', async () => {
    expect(await lookedFor(await local())).toMatchObject({
      folders: ['/srv'],
      files: expect.arrayContaining([ownFile]),
    })
    expect(await lookedFor(await local('/link'))).toMatchObject({ folders: ['/srv'] })
    expect(await lookedFor(await local('/srv/new/deep'))).toMatchObject({ folders: ['/srv'] })
    expect(await lookedFor(await local('/gone/deep'))).toMatchObject({ folders: ['/'] })
    expect(await lookedFor(await local('not/absolute'))).toMatchObject({ folders: ['/'] })
    expect(await lookedFor(await external('person'))).toMatchObject({ folders: ['/srv'] })
    const claimed = await external('person', { cwd: '/srv', options: { folderIsClaimed: true } })
    expect(await lookedFor(claimed)).toMatchObject({ folders: ['/srv'] })
  })
  it('rules are read only from the person’s own file for a folder that only an agent, or nobody, has named', async () => {
    const agent = await external('externalAgent')
    expect(await lookedFor(agent)).toEqual({ folders: [], files: [ownFile] })
    expect(await lookedFor(await external('person', {}))).toEqual({ folders: [], files: [ownFile] })
  })
  it('files with rules are not read for agents on another machine', async () => {
    expect(await lookedFor(await remote())).toEqual({ folders: [], files: [] })
  })
})

describe('a rule with a number of uses', () => {
  it('a rule with a number of uses does not block the delivery of its own answers, even after its last use', async () => {
    await addRule({ command: 'make', usesLeft: 2 })
    const agent = await local()
    const requests = [await agent.ask('1', approval('make')), await agent.ask('2', approval('make'))]
    expect(await statusOf(agent, approval('make'))).toBe('pending')
    for (const request of requests) expect((await agent.report(request, 'handed')).delivery.state).toBe('handed')
  })
  it('a rule with a number of uses does not block the delivery of an answer that also needed another rule', async () => {
    await addRule({ command: 'make', usesLeft: 1 })
    await addRule({ command: 'make check', usesLeft: 1 })
    const agent = await local()
    const request = await agent.ask('1', approval('make && make check'))
    expect((await agent.report(request, 'handed')).delivery.state).toBe('handed')
    expect(await statusOf(agent, approval('make check'))).toBe('pending')
  })
})

describe('the answer of a rule', () => {
  it('a rule never answers questions', async () => {
    await addRule({ effect: 'deny' })
    const request = await (await local()).ask('k', secretAsk)
    expect(request).toMatchObject({ status: 'pending', resolution: null })
    expect(request.risk).toBeUndefined()
  })
  it('the answer of a rule names further rules only if there are any', async () => {
    await addRule({ command: 'make' })
    const { resolution } = await (await local()).ask('k', approval('make'))
    expect(resolution?.answer).toEqual({ kind: 'allow' })
    expect(resolution?.editedDigest).toBeUndefined()
    expect(resolution?.moreRules).toBeUndefined()
  })
  it('the answer of a rule names the digest of the command in canonical quoting', async () => {
    await addRule({ command: 'make all' })
    const agent = await local()
    const [quoted, plain] = [await agent.ask('1', approval('make  "all"')), await agent.ask('2', approval('make all'))]
    expect(quoted.resolution?.editedDigest).toBe(plain.digest)
  })
  it('the answer of a rule does not change the input if the runner reports a command in canonical quoting', async () => {
    await addRule({ command: 'make' })
    const ask = approval('make', { input: { argv: ['bash', '-lc', 'make'] }, action: { shell: 'make', cwd: '/srv' } })
    const { resolution } = await (await local()).ask('k', ask)
    expect(resolution).toMatchObject({ by: 'rule' })
    expect(resolution?.answer).toEqual({ kind: 'allow' })
  })
  it('the answer of a rule does not change the input if the rule allows something other than a command', async () => {
    await addRule({ action: 'read', path: '/srv/a.txt' })
    const { resolution } = await (await local()).ask('k', fileAsk('read', '/srv/a.txt'))
    expect(resolution?.answer).toEqual({ kind: 'allow' })
  })
})

describe('the risk of a request', () => {
  const riskOf = async (agent: Asker, ask: Ask) => (await agent.ask(`k${keys++}`, ask)).risk
  it('the risk of a request depends on the real files, if the agent runs on the machine of the gateway', async () => {
    const ask = fileAsk('read', '/srv/notes')
    expect(await riskOf(await local(), ask)).toEqual({ level: 'dangerous', touches: ['secrets'] })
    expect(await riskOf(await remote(), ask)).toMatchObject({ level: 'notable' })
    const agent = await external('person')
    expect(await riskOf(agent, ask)).toMatchObject({ level: 'notable' })
    // The lease of the agent ends, so nothing but the driver says that it may run elsewhere.
    await fixture.clock.advance(defaultSettings.agentTtlMs + defaultSettings.sweepMs)
    expect(await riskOf(agent, ask)).toMatchObject({ level: 'notable' })
    expect(await riskOf(await local(), fileAsk('read', '/srv/a.txt'))).toEqual({ level: 'low', touches: [] })
  })
  it('the risk of a request depends on the real folder of the session', async () => {
    const ask = fileAsk('write', '/srv/a.txt')
    expect(await riskOf(await local('/link'), ask)).toEqual({ level: 'low', touches: [] })
    expect(await riskOf(await local('/gone'), ask)).toMatchObject({ level: 'dangerous', touches: ['writes-outside'] })
  })
  it('the risk of a request depends on the home folder of the machine', async () => {
    const ask = fileAsk('write', '~/x')
    expect(await riskOf(await local('/home/ada'), ask)).toMatchObject({ touches: [] })
    expect(await riskOf(await local('/srv'), ask)).toMatchObject({ touches: ['writes-outside'] })
    expect(await riskOf(await remote('/srv'), ask)).toMatchObject({ level: 'dangerous' })
  })
  it('the risk of a request is computed again for an edited input, and is dangerous if the edited input does not show what the call does', async () => {
    const agent = await local()
    const checked = async (ask: Ask, input: JsonObject) => {
      const { id } = await agent.ask(`k${keys++}`, ask)
      return (await fixture.person('checkInput', { id, input })).risk
    }
    const read = fileAsk('read', '/srv/a.txt')
    expect(await checked(read, { path: '/srv/notes' })).toEqual({ level: 'dangerous', touches: ['secrets'] })
    expect(await checked(read, { path: '/srv/a.txt', more: true })).toEqual({ level: 'low', touches: [] })
    expect(await checked(read, { other: 'x' })).toEqual({ level: 'dangerous', touches: ['unreadable'] })
  })
  it('the risk of a request that writes is dangerous if the folder of the session is not known', async () => {
    expect(await riskOf(await external('person', {}), fileAsk('write', '/etc/x'))).toMatchObject({ level: 'dangerous' })
  })
})
