/** The record as people read it: joined, filtered, searched, from either end, and never for long at a stretch. */
import { type Ask, type AuditEntry, type Input, limits } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  ada,
  approval,
  bob,
  type Driven,
  type GatewayFixture,
  refused,
  rig,
  secretAsk,
  secretForm,
} from './gateway-fixture.ts'

let at: GatewayFixture
let driven: Driven
beforeEach(async () => {
  at = await rig()
  driven = await at.drive('steady', { title: 'Spring cleaning', cwd: '/srv/Attic' })
})
const record = (input: Input<'listAudit'> = {}) => at.person('listAudit', input)
async function requests(input: Input<'listAudit'>): Promise<string[]> {
  return (await record(input)).items.map(line => line.value.key)
}
async function resolve(key: string, ask: Ask, answer: Input<'answerRequest'>['answer'], call = at.person) {
  const { id, digest } = await driven.ask(key, ask)
  return call('answerRequest', { id, digest, answer })
}
/** Resolved as they are asked. */
async function denyByRule(tool: string) {
  await at.person('addRule', { effect: 'deny', tool })
  return at.agent('startSession', { driver: 'external', title: 'Many' })
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

describe('a line of the record', () => {
  it('holds what was resolved, and the request and the title as they stand now', async () => {
    const request = await driven.ask('k')
    await at.allow(request)
    await driven.report(request, 'handed')
    await driven.report(request, 'taken')
    await at.person('patchSession', { id: driven.session.id, title: 'Another title' })
    const { items, next } = await record()
    const value = await at.person('getRequest', { id: request.id })
    expect(value.delivery.state).toBe('taken')
    const { id, session, digest, delivery } = value
    const resolution = value.resolution as NonNullable<typeof value.resolution> // it was allowed
    const line = {
      at: resolution.at,
      session,
      request: id,
      digest,
      resolution,
      delivery,
      value,
      title: 'Another title',
    }
    expect(items).toEqual([{ cursor: expect.stringMatching(/^e1-\d+$/), ...line } satisfies AuditEntry])
    expect(next).toBeNull()
  })
  it('shows that a secret was given and not the secret, and does not let it be searched for', async () => {
    await resolve('k', secretAsk, { kind: 'answers', answers: [{ id: 'pin', chosen: [], other: 'tulip4711' }] })
    const page = await record()
    expect(page.items).toHaveLength(1)
    expect(JSON.stringify(page)).not.toContain('tulip')
    expect(await requests({ q: 'tulip' })).toEqual([])
    expect(await requests({ q: 'the pin?' })).toEqual(['k'])
  })
  it('shows what a form was filled in with but for its secrets', async () => {
    await resolve('k', secretForm, { kind: 'submit', values: { name: 'ada', pass: 'tulip4711', pin: 918273 } })
    const [line] = (await record()).items
    expect(line?.resolution.answer).toEqual({ kind: 'submit', values: { name: 'ada', pass: '••••••', pin: '••••••' } })
    expect(JSON.stringify(line)).not.toMatch(/tulip|918273/)
    expect(await requests({ q: 'tulip' })).toEqual([])
  })
  it('is gone with its session', async () => {
    await resolve('gone', approval('dig up the treasure'), { kind: 'deny', reason: 'no digging' })
    const other = await at.drive()
    await at.allow(await other.ask('stays'))
    await at.person('endSession', { id: driven.session.id })
    await at.person('deleteSession', { id: driven.session.id })
    expect(await requests({})).toEqual(['stays'])
    expect(await requests({ before: 'end' })).toEqual(['stays'])
    expect(await requests({ session: driven.session.id })).toEqual([])
    expect(JSON.stringify(await record())).not.toContain('digging')
  })
  it('is for people', async () => {
    await refused(at.agent('listAudit', {}), 'forbidden')
    await refused(at.runner('listAudit', {}), 'forbidden')
  })
})

describe('the record', () => {
  it('is read on from its start and back from its end, to the same lines', async () => {
    for (let i = 0; i < 7; i++) await at.allow(await driven.ask(`k${i}`))
    const all = (await record()).items
    expect(all.map(line => line.value.key)).toEqual(['k0', 'k1', 'k2', 'k3', 'k4', 'k5', 'k6'])
    const on: AuditEntry[] = []
    for (let after: string | null | undefined; after !== null; ) {
      const page: Awaited<ReturnType<typeof record>> = await record({ limit: 3, ...(after ? { after } : {}) })
      on.push(...page.items)
      after = page.next
    }
    expect(on).toEqual(all)
    let back: AuditEntry[] = []
    const nexts: (string | null)[] = []
    for (let before: string | null = 'end'; before !== null; ) {
      const page: Awaited<ReturnType<typeof record>> = await record({ limit: 3, before })
      back = [...page.items, ...back]
      before = page.next
      nexts.push(before)
    }
    expect(back).toEqual(all)
    expect(nexts).toEqual([all[4]?.cursor, all[1]?.cursor, null])
  })
  it('is filtered by session, by what resolved, by the answer and by the person', async () => {
    await resolve('allowed', approval(), { kind: 'allow' })
    await resolve('denied', approval(), { kind: 'deny' }, at.other)
    await resolve('answered', colours, { kind: 'answers', answers: [{ id: 'c', chosen: ['Teal'] }] })
    await resolve('declined', colours, { kind: 'decline' }, at.other)
    await resolve('submitted', form, { kind: 'submit', values: { summary: 'New shed' } })
    await at.runner('withdrawRequest', { id: (await driven.ask('withdrawn')).id, fence: driven.fence })
    await driven.ask('late', approval(), { deadlineMs: 1000, onDeadline: 'deny' })
    await at.clock.pass(2000)
    await at.person('addRule', { effect: 'deny', tool: 'Format' })
    await driven.ask('ruled', approval('disk', { tool: 'Format' }))
    const other = await at.drive()
    await at.allow(await other.ask('elsewhere'))
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
    for (const [input, keys] of cases) expect(await requests(input), JSON.stringify(input)).toEqual(keys)
  })
  it('is searched in what was asked, who answered, what was said, and where', async () => {
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
      at.other,
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
      ['steady', every],
      ['', every],
      ['%', []],
      ['approval', []],
    ]
    for (const [q, keys] of cases) expect(await requests({ q }), q).toEqual(keys)
    expect(await requests({ q: 'shed', answer: 'submit', before: 'end' })).toEqual(['form'])
  })
})

describe('one call', () => {
  it('looks at so many resolutions, and says where to go on', async () => {
    const { id } = await denyByRule('Bash')
    const deny = (key: string, command = 'ls') => at.agent('openRequest', { id, key, ask: approval(command) })
    await deny('needle', 'find me')
    for (let i = 1; i < limits.auditScanMax; i++) await deny(`k${i}`)
    expect(await record({ q: 'find me', before: 'end' })).toMatchObject({
      items: [{ value: { key: 'needle' } }],
      next: null,
    })
    await deny('one more')
    const short = await record({ q: 'find me', before: 'end' })
    expect(short).toEqual({ items: [], next: expect.stringMatching(/^e1-/) })
    const rest = await record({ q: 'find me', before: short.next as string }) // it is there, by the line above
    expect(rest).toMatchObject({ items: [{ value: { key: 'needle' } }], next: null })
  }, 60_000)

  it('reads no more than a page holds, whatever little of it fits', async () => {
    const { id } = await denyByRule('Bash')
    const quarter = limits.pageMaxBytes / 32
    for (let i = 0; i < 40; i++)
      await at.agent('openRequest', { id, key: `k${i}`, ask: approval('x'.repeat(quarter), { title: `Run ${i}` }) })
    expect((await record({ limit: 500 })).items.length).toBe(31)
    const first = await record({ q: 'run 39' })
    expect(first).toEqual({ items: [], next: expect.stringMatching(/^e1-/) })
    expect(await record({ q: 'run 39', after: first.next as string })).toMatchObject({ items: [{}], next: null }) // likewise
  })

  it('lets everything else have its turn while it looks', async () => {
    const { id } = await denyByRule('Bash')
    for (let i = 0; i < 200; i++) await at.agent('openRequest', { id, key: `k${i}`, ask: approval() })
    let turns = 0
    let over = false
    const turn = () => {
      turns++
      if (!over) setImmediate(turn)
    }
    setImmediate(turn)
    await record({ q: 'nothing says this' })
    over = true
    expect(turns).toBeGreaterThanOrEqual(200 / 8)
  })
})
