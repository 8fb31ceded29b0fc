/** The audit log: its entries, filters, search, paging, and the cost of one call. */
import { type Ask, type AuditEntry, type Input, limits } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  type AttachedAgent,
  ada,
  approval,
  bob,
  expectFault,
  type GatewayFixture,
  openFixture,
  secretAsk,
  secretForm,
} from './gateway-fixture.ts'

let fixture: GatewayFixture
let agent: AttachedAgent
beforeEach(async () => {
  fixture = await openFixture()
  agent = await fixture.startAttached('resumable', { title: 'Spring cleaning', cwd: '/srv/Attic' })
})
const listAudit = async (input: Input<'listAudit'> = {}) => {
  const { items, next } = await fixture.person('listAudit', input)
  return { items: items.filter(entry => entry.kind === 'decision'), next }
}
async function matchingKeys(input: Input<'listAudit'>): Promise<string[]> {
  return (await listAudit(input)).items.map(entry => entry.value.key)
}
async function resolve(key: string, ask: Ask, answer: Input<'answerRequest'>['answer'], call = fixture.person) {
  const { id, digest } = await agent.ask(key, ask)
  return call('answerRequest', { id, digest, answer })
}
/** Adds a deny rule, so that requests resolve when they are opened, and starts an external session. */
async function denyByRule(tool: string) {
  await fixture.person('addRule', { effect: 'deny', tool })
  return fixture.externalAgent('startSession', { driver: 'external', title: 'Many' })
}

const colours: Ask = {
  kind: 'questions',
  questions: [
    {
      id: 'c',
      header: 'Colour',
      question: 'Which shade for the shed?',
      options: [{ label: 'Ochre', description: 'warm and dusty' }, { label: 'Teal' }],
      multiSelect: false,
      allowOther: true,
      secret: false,
    },
  ],
}
const form: Ask = {
  kind: 'form',
  title: 'Release notes',
  message: 'What changed?',
  schema: { type: 'object', properties: { summary: { type: 'string', title: 'In a sentence' } } },
}

describe('an audit entry', () => {
  it('an audit entry contains the resolution, the current request, and the title, folder and driver of the session', async () => {
    const request = await agent.ask('k')
    await fixture.allow(request)
    await agent.report(request, 'handed')
    await agent.report(request, 'taken')
    await fixture.person('patchSession', { id: agent.session.id, title: 'Another title' })
    const { items, next } = await listAudit()
    const value = await fixture.person('getRequest', { id: request.id })
    expect(value.delivery.state).toBe('taken')
    const { id, session, digest, delivery } = value
    const resolution = value.resolution as NonNullable<typeof value.resolution> // the request was allowed above, so its resolution is set
    const line = {
      kind: 'decision' as const,
      at: resolution.at,
      session,
      request: id,
      digest,
      resolution,
      delivery,
      value,
      title: 'Another title',
      cwd: '/srv/Attic',
      driver: 'resumable',
    }
    expect(items).toEqual([{ cursor: expect.stringMatching(/^e1-\d+$/), ...line } satisfies AuditEntry])
    expect(next).toBeNull()
  })
  it('an audit entry masks a secret, and a search for the secret does not find the entry', async () => {
    await resolve('k', secretAsk, { kind: 'answers', answers: [{ id: 'pin', chosen: [], other: 'tulip4711' }] })
    const page = await listAudit()
    expect(page.items).toHaveLength(1)
    expect(JSON.stringify(page)).not.toContain('tulip')
    expect(await matchingKeys({ q: 'tulip' })).toEqual([])
    expect(await matchingKeys({ q: 'the pin?' })).toEqual(['k'])
  })
  it('an audit entry shows the values of a form except its secrets', async () => {
    await resolve('k', secretForm, { kind: 'submit', values: { name: 'ada', pass: 'tulip4711', pin: 918273 } })
    const [line] = (await listAudit()).items
    expect(line?.resolution.answer).toEqual({ kind: 'submit', values: { name: 'ada', pass: '••••••', pin: '••••••' } })
    expect(JSON.stringify(line)).not.toMatch(/tulip|918273/)
    expect(await matchingKeys({ q: 'tulip' })).toEqual([])
  })
  it('an audit entry is removed when its session is deleted', async () => {
    await resolve('gone', approval('dig up the treasure'), { kind: 'deny', reason: 'no digging' })
    const other = await fixture.startAttached()
    await fixture.allow(await other.ask('stays'))
    await fixture.person('endSession', { id: agent.session.id })
    await fixture.person('deleteSession', { id: agent.session.id })
    expect(await matchingKeys({})).toEqual(['stays'])
    expect(await matchingKeys({ before: 'end' })).toEqual(['stays'])
    expect(await matchingKeys({ session: agent.session.id })).toEqual([])
    expect(JSON.stringify(await listAudit())).not.toContain('digging')
  })
  it('an audit entry can be read by people only', async () => {
    await expectFault(fixture.externalAgent('listAudit', {}), 'forbidden')
    await expectFault(fixture.runner('listAudit', {}), 'forbidden')
  })
})

describe('listAudit', () => {
  it('listAudit returns the same entries forwards from the start and backwards from the end', async () => {
    for (let i = 0; i < 7; i++) await fixture.allow(await agent.ask(`k${i}`))
    const all = (await listAudit()).items
    expect(all.map(line => line.value.key)).toEqual(['k0', 'k1', 'k2', 'k3', 'k4', 'k5', 'k6'])
    const on: AuditEntry[] = []
    for (let after: string | null | undefined; after !== null; ) {
      const page: Awaited<ReturnType<typeof listAudit>> = await listAudit({ limit: 3, ...(after ? { after } : {}) })
      on.push(...page.items)
      after = page.next
    }
    expect(on).toEqual(all)
    let back: AuditEntry[] = []
    const nexts: (string | null)[] = []
    for (let before: string | null = 'end'; before !== null; ) {
      const page: Awaited<ReturnType<typeof listAudit>> = await listAudit({ limit: 3, before })
      back = [...page.items, ...back]
      before = page.next
      nexts.push(before)
    }
    expect(back).toEqual(all)
    expect(nexts).toEqual([all[4]?.cursor, all[1]?.cursor, null])
  })
  it('listAudit filters by time in both directions, and ends a search once no further entry can match', async () => {
    const times: number[] = []
    for (const key of ['first', 'second', 'third']) {
      await resolve(key, approval(), { kind: 'allow' })
      times.push((await listAudit({ before: 'end', limit: 1 })).items[0]?.at ?? 0)
      await fixture.clock.advance(1000)
    }
    const [, second = 0, third = 0] = times
    for (const direction of [{}, { before: 'end' }]) {
      expect(await matchingKeys({ ...direction, from: second })).toEqual(['second', 'third'])
      expect(await matchingKeys({ ...direction, to: third })).toEqual(['first', 'second'])
      expect(await matchingKeys({ ...direction, from: second, to: third })).toEqual(['second'])
      expect(await matchingKeys({ ...direction, from: third + 1 })).toEqual([])
    }
    expect((await listAudit({ before: 'end', from: third, limit: 1 })).items).toHaveLength(1)
    expect((await listAudit({ before: 'end', from: third + 1 })).next).toBeNull()
  })
  it('listAudit filters by folder, including its subfolders, but not folders beside it whose name only begins the same', async () => {
    await resolve('attic', approval(), { kind: 'allow' })
    for (const cwd of ['/srv/Attic/box', '/srv/Attic-old', '/srv'])
      await fixture.allow(await (await fixture.startAttached('resumable', { cwd })).ask(cwd))
    expect(await matchingKeys({ folder: '/srv/Attic' })).toEqual(['attic', '/srv/Attic/box'])
    expect(await matchingKeys({ folder: '/srv/Attic/' })).toEqual(['attic', '/srv/Attic/box'])
    expect(await matchingKeys({ folder: '/' })).toHaveLength(4)
    const { items } = await fixture.person('listAudit', { folder: '/srv/none', include: 'notices' })
    expect(items).toEqual([])
  })
  it('listAudit filters by session, resolver, answer and person', async () => {
    await resolve('allowed', approval(), { kind: 'allow' })
    await resolve('denied', approval(), { kind: 'deny' }, fixture.otherPerson)
    await resolve('answered', colours, { kind: 'answers', answers: [{ id: 'c', chosen: ['Teal'] }] })
    await resolve('declined', colours, { kind: 'decline' }, fixture.otherPerson)
    await resolve('submitted', form, { kind: 'submit', values: { summary: 'New shed' } })
    await fixture.runner('withdrawRequest', { id: (await agent.ask('withdrawn')).id, fence: agent.fence })
    await agent.ask('late', approval(), { deadlineMs: 1000, onDeadline: 'deny' })
    await fixture.clock.advance(2000)
    await fixture.person('addRule', { effect: 'deny', tool: 'Format' })
    await agent.ask('ruled', approval('disk', { tool: 'Format' }))
    const other = await fixture.startAttached()
    await fixture.allow(await other.ask('elsewhere'))
    const cases: [Input<'listAudit'>, string[]][] = [
      [{ by: 'agent' }, ['withdrawn']],
      [{ by: 'deadline' }, ['late']],
      [{ by: 'rule' }, ['ruled']],
      [{ by: 'person', answer: 'allow' }, ['allowed', 'elsewhere']],
      [{ answer: 'deny' }, ['denied', 'ruled']],
      [{ answer: 'answers' }, ['answered']],
      [{ answer: 'decline' }, ['declined']],
      [{ answer: 'submit' }, ['submitted']],
      [{ person: bob.name }, ['denied', 'declined']],
      [{ person: bob.name, answer: 'deny', before: 'end' }, ['denied']],
      [{ session: other.session.id }, ['elsewhere']],
      [{ session: other.session.id, person: bob.name }, []],
    ]
    for (const [input, keys] of cases) expect(await matchingKeys(input), JSON.stringify(input)).toEqual(keys)
  })
  it('listAudit searches ask, person, answer, session title and folder', async () => {
    await resolve('note', approval('sweep "under" the rug'), { kind: 'allow', note: 'Mind the Vase' })
    await resolve('reason', approval('x', { title: 'Burn it', tool: 'Torch' }), { kind: 'deny', reason: 'No FIRE' })
    await resolve('edit', approval('y'), {
      kind: 'allow',
      input: { command: 'y', nested: [{ deep: 'polish the brass' }] },
    })
    await resolve(
      'colour',
      colours,
      { kind: 'answers', answers: [{ id: 'c', chosen: [], other: 'Heliotrope' }] },
      fixture.otherPerson,
    )
    await resolve('form', form, { kind: 'submit', values: { summary: 'A new shed' } })
    const every = ['note', 'reason', 'edit', 'colour', 'form']
    const cases: [string, string[]][] = [
      ['SWEEP "UNDER"', ['note']],
      ['mind the vase', ['note']],
      ['burn it', ['reason']],
      ['torch', ['reason']],
      ['no fire', ['reason']],
      ['Polish The', ['edit']],
      ['shade for', ['colour']],
      ['dusty', ['colour']],
      ['ochre', ['colour']],
      ['heliotrope', ['colour']],
      ['in a sentence', ['form']],
      ['new shed', ['form']],
      [bob.name, ['colour']],
      [ada.name, ['note', 'reason', 'edit', 'form']],
      ['spring CLEANING', every],
      ['/srv/attic', every],
      ['resumable', every],
      ['', every],
      ['%', []],
      ['approval', []],
    ]
    for (const [q, keys] of cases) expect(await matchingKeys({ q }), q).toEqual(keys)
    expect(await matchingKeys({ q: 'shed', answer: 'submit', before: 'end' })).toEqual(['form'])
  })
})

describe('one listAudit call', () => {
  it('one listAudit call scans a limited number of resolutions and returns a cursor to continue', async () => {
    const { id } = await denyByRule('Bash')
    const deny = (key: string, command = 'ls') =>
      fixture.externalAgent('openRequest', { id, key, ask: approval(command) })
    await deny('needle', 'find me')
    // The event of the rule and the resolution of the needle count too.
    for (let i = 2; i < limits.auditScanMax; i++) await deny(`k${i}`)
    expect(await listAudit({ q: 'find me', before: 'end' })).toMatchObject({
      items: [{ value: { key: 'needle' } }],
      next: null,
    })
    for (const key of ['one more', 'and another']) await deny(key)
    const short = await listAudit({ q: 'find me', before: 'end' })
    expect(short).toEqual({ items: [], next: expect.stringMatching(/^e1-/) })
    const rest = await listAudit({ q: 'find me', before: short.next as string }) // the previous line checks that `next` is a cursor
    expect(rest).toMatchObject({ items: [{ value: { key: 'needle' } }], next: null })
  })

  it('one listAudit call returns no more bytes than a page may have, and reads a limited number of bytes even if few entries match', async () => {
    const { id } = await denyByRule('Bash')
    const part = limits.auditScanMaxBytes / 64
    for (let i = 0; i < 80; i++)
      await fixture.externalAgent('openRequest', {
        id,
        key: `k${i}`,
        ask: approval('x'.repeat(part), { title: `Run ${i}` }),
      })
    expect((await listAudit({ limit: 500 })).items.length).toBe(limits.pageMaxBytes / part - 1)
    const first = await listAudit({ q: 'run 79' })
    expect(first).toEqual({ items: [], next: expect.stringMatching(/^e1-/) })
    expect(await listAudit({ q: 'run 79', after: first.next as string })).toMatchObject({ items: [{}], next: null }) // the previous line checks that `next` is a cursor
  })

  it('one listAudit call yields to the event loop while it scans', async () => {
    const { id } = await denyByRule('Bash')
    for (let i = 0; i < 200; i++) await fixture.externalAgent('openRequest', { id, key: `k${i}`, ask: approval() })
    let turns = 0
    let over = false
    const turn = () => {
      turns++
      if (!over) setImmediate(turn)
    }
    setImmediate(turn)
    await listAudit({ q: 'nothing says this' })
    over = true
    expect(turns).toBeGreaterThanOrEqual(200 / 8)
  })
})

describe('the notices in the audit log', () => {
  it('listAudit returns notices in log order between the decisions, if the caller asks for notices', async () => {
    const rule = await fixture.person('addRule', { effect: 'deny', tool: 'Bash', command: 'rm -rf /' })
    await resolve('k', approval(), { kind: 'deny' })
    const token = await fixture.person('addToken', { role: 'agent', name: 'ci' })
    await fixture.person('removeRule', { id: rule.id })
    const { items } = await fixture.person('listAudit', { include: 'notices' })
    expect(items.map(entry => (entry.kind === 'notice' ? entry.event.type : entry.value.key))).toEqual([
      'rule.added',
      'k',
      'token.added',
      'rule.removed',
    ])
    expect(items[2]).toMatchObject({ kind: 'notice', session: null, event: { token: token.id, name: 'ci' } })
    expect(items[2]).toMatchObject({ cursor: (items[2] as { event: { cursor: string } }).event.cursor }) // the previous line checks that this entry has an event
  })
  it('listAudit searches notices, and leaves them out if the filter is about answers', async () => {
    await fixture.person('addToken', { role: 'agent', name: 'Deploy bot' })
    await resolve('k', approval(), { kind: 'deny' })
    const count = async (input: Input<'listAudit'>) =>
      (await fixture.person('listAudit', { include: 'notices', ...input })).items.length
    expect(await count({ q: 'deploy BOT' })).toBe(1)
    expect(await count({ q: 'nothing like it' })).toBe(0)
    expect(await count({})).toBe(2)
    expect(await count({ by: 'person' })).toBe(1)
    expect(await count({ answer: 'deny' })).toBe(1)
    expect(await count({ person: ada.name })).toBe(1)
    expect((await fixture.person('listAudit', {})).items).toHaveLength(1)
  })
})
