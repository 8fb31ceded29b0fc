/** Tests which files with watchers apply to a session: the person's own file, files of projects (trusted, new or changed), files that cannot be read, and files of another machine. */
import { type Capability, formatId } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { approval, expectFault } from './gateway-fixture.ts'
import { openMemoryFixture, ownFile, projectFile, type WatchFixture } from './watch-fixture.ts'

let fixture: WatchFixture
/** The versions that this test has seen. */
let versions: Set<number>
beforeEach(async () => {
  fixture = await openMemoryFixture()
  versions = new Set()
})
const denies = (name: string, command: string) => ({
  vars: { seen: 0 },
  watch: [
    { name, on: 'before', command, do: { deny: `${name} denies.` } },
    { name: 'count', on: 'before', do: { set: { seen: 'vars.seen + 1' }, say: `From ${name}.` } },
  ],
})
/** Returns the watchers in force, each with the position of its version among those that this test has seen. */
const watchers = async () => {
  const { items } = await fixture.person('listWatchers', {})
  for (const { version } of items) versions.add(version)
  const inOrder = [...versions].toSorted((a, b) => a - b)
  return items.map(
    ({ name, version, source }) =>
      `${name} ${inOrder.indexOf(version) + 1} ${source.trusted ? 'trusted' : 'not trusted'}`,
  )
}

describe('the watchers of a project', () => {
  it('watchers of a project that nobody has trusted deny with a neutral sentence, and the agent does not read their texts', async () => {
    fixture.files.write(projectFile, denies('push', 'git push'), 'new')
    await fixture.withFile({})
    const agent = await fixture.agent()
    const verdict = await fixture.check(agent, '1', 'git push')
    expect(verdict).toMatchObject({ verdict: 'deny', watcher: { name: 'push', file: projectFile } })
    expect(verdict.reason).not.toContain('push denies.')
    expect(verdict.say).toBeUndefined()
    expect(await watchers()).toEqual(['push 1 not trusted', 'count 1 not trusted'])
  })
  it('watchers of a trusted version stay in force while the changed file is not trusted', async () => {
    fixture.files.write(projectFile, denies('push', 'git push'))
    await fixture.withFile({})
    const agent = await fixture.agent()
    expect(await fixture.check(agent, '1', 'git push')).toMatchObject({ reason: 'push denies.', say: ['From push.'] })
    fixture.files.write(projectFile, denies('pull', 'git pull'), 'changed')
    expect((await fixture.check(agent, '2', 'git push')).reason).toBe('push denies.')
    expect((await fixture.check(agent, '3', 'git pull')).verdict).toBe('deny')
    expect(await watchers()).toEqual(['push 1 trusted', 'count 1 trusted', 'pull 2 not trusted', 'count 2 not trusted'])
    // The variables of the two versions are different ones.
    const { items } = await fixture.person('listVariables', { id: agent.session.id })
    expect(items.map(({ name, value, source }) => [name, value, source.trusted])).toEqual([
      ['seen', 3, true],
      ['seen', 2, false],
    ])
    fixture.files.write(projectFile, denies('pull', 'git pull'))
    expect((await fixture.check(agent, '4', 'git push')).verdict).toBe('ask')
    expect(await watchers()).toEqual(['pull 3 trusted', 'count 3 trusted'])
    expect(await fixture.values(agent.session.id)).toEqual({ seen: 4 })
  })
  it('watchers of a project apply only in its folder and on its machine', async () => {
    fixture.files.write(projectFile, denies('push', 'git push'))
    await fixture.withFile({})
    const inside = await fixture.agent()
    expect((await fixture.check(inside, '1', 'git push')).verdict).toBe('deny')
    expect((await fixture.check(await fixture.agent({ cwd: '/home' }), '1', 'git push')).verdict).toBe('ask')
    const remote = await fixture.startAttached('resumable', { cwd: '/srv' }, 1)
    const call = { id: remote.session.id, fence: remote.fence, key: '1', tool: 'Bash', input: { command: 'git push' } }
    expect((await fixture.runnerCall(1)('checkTool', call)).verdict).toBe('ask')
    expect((await fixture.person('listWatchers', { session: remote.session.id })).items).toEqual([])
    expect((await fixture.person('listWatchers', { session: inside.session.id })).items).toHaveLength(2)
  })
  it('watchers of a person apply on every machine', async () => {
    await fixture.withFile(denies('push', 'git push'))
    const remote = await fixture.startAttached('resumable', { cwd: '/srv' }, 1)
    const call = { id: remote.session.id, fence: remote.fence, key: '1', tool: 'Bash', input: { command: 'git push' } }
    expect(await fixture.runnerCall(1)('checkTool', call)).toMatchObject({ verdict: 'deny', reason: 'push denies.' })
    expect((await fixture.person('listWatchers', { session: remote.session.id })).items).toHaveLength(2)
  })
})

describe('the list of the watchers of a session', () => {
  it('the list of the watchers of a session says which effects are impossible with the agent of the session', async () => {
    await fixture.withFile({
      watch: [
        { name: 'budget', on: 'before', do: { limit: { cost: 5 } } },
        { name: 'stop', on: 'stop', do: { say: 'Not yet.' } },
        { name: 'after', on: 'after', do: { say: 'Done.' } },
      ],
    })
    const agent = await fixture.agent()
    const gaps = async () => {
      const { items } = await fixture.person('listWatchers', { session: agent.session.id })
      return Object.fromEntries(items.map(watcher => [watcher.name, watcher.gaps?.length ?? 0]))
    }
    // The driver of the test checks no calls, and its agent reads texts only with messages.
    expect(await gaps()).toEqual({ budget: 1, stop: 0, after: 1 })
    await agent.append({ type: 'turn.finished', ending: 'done' })
    expect(await gaps()).toEqual({ budget: 2, stop: 0, after: 1 })
    const gapsOf = async (capabilities: Capability[]) => {
      const { id } = await fixture.externalAgent('startSession', { driver: 'external', capabilities })
      const { items } = await fixture.person('listWatchers', { session: id })
      return Object.fromEntries(items.map(watcher => [watcher.name, watcher.gaps?.length ?? 0]))
    }
    // An external agent reports moments if it takes messages or has its calls checked.
    expect(await gapsOf(['approvals', 'checksEveryTool'])).toMatchObject({ stop: 0, after: 0 })
    expect(await gapsOf(['approvals'])).toMatchObject({ stop: 1, after: 1 })
    await expectFault(fixture.person('listWatchers', { session: formatId('ses', new Uint8Array(20)) }), 'not_found')
  })
})

describe('a file with watchers', () => {
  it('a file that cannot be used keeps its earlier watchers in force, even after a restart', async () => {
    await fixture.withFile(denies('push', 'git push'))
    const agent = await fixture.agent()
    fixture.files.write(ownFile, { watch: [{ name: 'push', on: 'before', when: 'unknown', do: { deny: 'a' } }] })
    expect((await fixture.check(agent, '1', 'git push')).reason).toBe('push denies.')
    expect((await fixture.check(agent, '2', 'ls')).reason).toMatch(/cannot be used/)
    await fixture.open({ machine: fixture.machine })
    expect((await fixture.check(agent, '3', 'git push')).reason).toBe('push denies.')
  })
  it('no watchers are in force for a file that has lost its watchers or was removed', async () => {
    await fixture.withFile(denies('push', 'git push'))
    const agent = await fixture.agent()
    await fixture.check(agent, '1', 'git push')
    await fixture.gateway.close()
    fixture.files.write(ownFile, { rules: [] })
    await fixture.open({ machine: fixture.machine })
    expect(await watchers()).toEqual([])
    expect((await fixture.check(agent, '2', 'git push')).verdict).toBe('ask')
  })
  it('a file has a new version only if its watchers or variables change', async () => {
    await fixture.withFile(denies('push', 'git push'))
    const agent = await fixture.agent()
    fixture.files.write(ownFile, { ...denies('push', 'git push'), rules: [{ effect: 'deny', command: 'rm' }] })
    await fixture.check(agent, '1', 'ls')
    expect(await watchers()).toEqual(['push 1 trusted', 'count 1 trusted'])
    fixture.files.write(ownFile, denies('push', 'git push -f'))
    await fixture.check(agent, '2', 'ls')
    expect(await watchers()).toEqual(['push 2 trusted', 'count 2 trusted'])
  })
  it('a file whose watchers were removed and added again has the new watchers in force, with a new version', async () => {
    await fixture.withFile(denies('push', 'git push'))
    const agent = await fixture.agent()
    expect((await fixture.check(agent, '1', 'git push')).verdict).toBe('deny')
    expect(await watchers()).toEqual(['push 1 trusted', 'count 1 trusted'])
    fixture.files.write(ownFile, { rules: [] })
    await fixture.agent()
    fixture.files.write(ownFile, denies('pull', 'git pull'))
    expect((await fixture.check(agent, '2', 'git push')).verdict).toBe('ask')
    expect((await fixture.check(agent, '3', 'git pull')).verdict).toBe('deny')
    expect(await watchers()).toEqual(['pull 2 trusted', 'count 2 trusted'])
  })
  it('a session without watchers stores no data of watchers', async () => {
    fixture.files.write(projectFile, denies('push', 'git push'))
    await fixture.withFile({})
    const agent = await fixture.agent({ cwd: '/home' })
    await agent.ask('k', approval('ls'))
    await agent.append({ type: 'turn.finished', ending: 'done' })
    expect(await fixture.store.find('watchstate', {})).toEqual([])
  })
})

describe('the variables of a session', () => {
  const declared = {
    vars: { task: { default: '', setBy: 'agent' as const, note: 'The issue.' }, edits: 0, ratio: 0.5 },
  }
  const set = (name: string, value: string | number | boolean, file?: string) =>
    fixture.person('setVariable', { id: session, name, value, ...(file ? { file } : {}) })
  let session: Awaited<ReturnType<WatchFixture['agent']>>['session']['id']
  let fence: number
  const start = async (file: unknown) => {
    await fixture.withFile(file)
    const agent = await fixture.agent()
    session = agent.session.id
    fence = agent.fence
  }
  const setAsAgent = (name: string, value: string | number | boolean) =>
    fixture.runner('setAgentVariable', { id: session, fence, name, value })

  it('variables have their default values until somebody sets them, and the log says who set them', async () => {
    await start(declared)
    expect(await fixture.person('listVariables', { id: session })).toMatchObject({
      items: [{ name: 'task', value: '', setByAgent: true, note: 'The issue.' }, { name: 'edits' }, { name: 'ratio' }],
    })
    expect(await setAsAgent('task', '#15')).toEqual({ value: '#15' })
    expect(await set('edits', 3)).toMatchObject({ value: 3, default: 0, changedBy: 'ada' })
    expect(await fixture.values(session)).toEqual({ task: '#15', edits: 3, ratio: 0.5 })
    const events = await fixture.store.events({ after: 0, limit: 1000, types: ['variable.changed'] })
    expect(events.map(({ body }) => body)).toMatchObject([
      { name: 'task', to: '#15', by: 'agent' },
      { name: 'edits', to: 3, by: 'person', person: 'ada', file: ownFile },
    ])
  })
  it('variables keep their types', async () => {
    await start(declared)
    await expectFault(set('edits', 'many'), 'bad_input', /whole number/)
    await expectFault(set('task', 1), 'bad_input', /text/)
    await expectFault(set('nothing', 1), 'not_found', /List the variables/)
    expect((await set('ratio', 1)).value).toBe(1)
  })
  it('an agent can set only the variables that a file declares as the agent’s', async () => {
    await start(declared)
    await expectFault(setAsAgent('edits', 1), 'unsupported', /setBy/)
    await expectFault(setAsAgent('nothing', 1), 'not_found')
  })
  it('variables with the same name in two files are independent', async () => {
    fixture.files.write(projectFile, declared)
    await start(declared)
    await expectFault(set('edits', 1), 'unsupported', /Several files declare edits/)
    await set('edits', 1, projectFile)
    await setAsAgent('task', '#15')
    const { items } = await fixture.person('listVariables', { id: session })
    const valuesIn = (file: string) =>
      items.filter(({ source, name }) => source.file === file && name !== 'ratio').map(({ value }) => value)
    expect(valuesIn(ownFile)).toEqual(['#15', 0])
    expect(valuesIn(projectFile)).toEqual(['#15', 1])
  })
  it('variables of a session have at most 64 KiB together', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `v${i}`)
    await start({ vars: Object.fromEntries(names.map(name => [name, ''])) })
    const text = 'x'.repeat(4000)
    for (const name of names.slice(0, 16)) await set(name, text)
    await expectFault(set('v17', text), 'too_many', /bytes/)
    expect((await set('v0', 'short')).value).toBe('short')
  })
})
