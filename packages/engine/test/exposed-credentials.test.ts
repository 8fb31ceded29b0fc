/** Tests that Holdpoint's own credentials are masked in everything that agents send, and that each appearance raises an alarm. */
import type { Ask, Event, TokenId } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { type AttachedAgent, approval, type GatewayFixture, openFixture, robot } from './gateway-fixture.ts'

let fixture: GatewayFixture
let agent: AttachedAgent
/** A person's token that the agent has found in a file. */
let secret: string
let token: TokenId
beforeEach(async () => {
  fixture = await openFixture()
  agent = await fixture.startAttached()
  ;({ secret, id: token } = await fixture.person('addToken', { role: 'person', name: 'Bob' }))
})

const masked = `hp_${'•'.repeat(43)}`
async function eventsOf<T extends Event['type']>(type: T) {
  const events = await fixture.store.events({ after: 0, limit: 10_000 })
  return events.filter(event => event.type === type).map(event => event.body as Extract<Event, { type: T }>) // the body has the type of the event
}
/** Everything that the store holds, as text. */
async function storeText(): Promise<string> {
  const tables = ['session', 'request', 'command', 'runner', 'draft', 'idempotency', 'token', 'rule'] as const
  const rows = await Promise.all(tables.map(table => fixture.store.find(table, {})))
  return JSON.stringify([rows, await fixture.store.events({ after: 0, limit: 10_000 })])
}

describe('a credential in the events of an agent', () => {
  it('L1: a credential is masked in messages, tool inputs, tool results and errors, before they are stored or shown', async () => {
    const { frames } = await fixture.subscribe()
    await agent.append(
      { type: 'message.added', block: 'a', text: `The token is ${secret}` },
      { type: 'tool.started', block: 'b', tool: 'Bash', title: secret, input: { command: `curl -H ${secret}` } },
      { type: 'tool.finished', block: 'b', ok: true, output: { stdout: [`x ${secret} y`] } },
      { type: 'error.raised', message: `no ${secret}` },
    )
    expect(await eventsOf('message.added')).toMatchObject([{ text: `The token is ${masked}` }])
    expect(await eventsOf('tool.started')).toMatchObject([{ title: masked, input: { command: `curl -H ${masked}` } }])
    expect(await eventsOf('tool.finished')).toMatchObject([{ output: { stdout: [`x ${masked} y`] } }])
    expect(await storeText()).not.toContain(secret)
    expect(JSON.stringify(frames)).not.toContain(secret)
    expect((await fixture.person('getSession', { id: agent.session.id })).lastMessage).toBe(`The token is ${masked}`)
  })

  it('L1: a credential in the events of an agent raises an alarm with the id of the token, the session and the advice to replace it', async () => {
    await agent.append({ type: 'message.added', block: 'a', text: `${secret} and again ${secret}` })
    const { id } = agent.session
    expect(await eventsOf('token.exposed')).toMatchObject([
      { token, role: 'person', name: 'Bob', in: id, operation: 'appendEvents', by: 'runner 0' },
    ])
    const message = expect.stringMatching(`credential of “Bob” \\(${token}\\).*Replace it now`)
    expect(await eventsOf('error.raised')).toMatchObject([{ code: 'token_exposed', message }])
    const { items } = await fixture.person('listAudit', { include: 'notices' })
    expect(items.filter(({ kind }) => kind === 'notice').at(-1)).toMatchObject({
      event: { type: 'token.exposed', token },
    })
  })

  it('L1: a credential in the events of an agent raises an alarm each time it appears, but not for a call that is repeated with its idempotency key', async () => {
    const { fence, session } = agent
    const items = [{ type: 'message.added' as const, block: 'a', text: secret }]
    for (const idempotencyKey of ['one', 'one', 'two'])
      await fixture.runner('appendEvents', { id: session.id, items, fence }, { idempotencyKey })
    expect(await eventsOf('token.exposed')).toHaveLength(2)
  })

  it('L1: a credential in the events of an agent raises an alarm even for a secret that belongs to no token', async () => {
    const unknown = 'hp_Abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG'
    await agent.append({ type: 'message.added', block: 'a', text: unknown })
    const [alarm] = await eventsOf('token.exposed')
    expect(alarm).toMatchObject({ in: agent.session.id })
    expect(alarm).not.toHaveProperty('token')
    expect(await storeText()).not.toContain(unknown)
  })

  it('L1: cookies, page secrets and the codes of links raise an alarm too', async () => {
    const { code } = await fixture.person('makeLink', {})
    const other = (await fixture.person('makeLink', {})).code
    const { cookie, pageSecret } = await fixture.gateway.redeemLink(other)
    await agent.append({ type: 'message.added', block: 'a', text: `#code=${code} ${cookie} ${pageSecret}` })
    expect(await storeText()).not.toMatch(new RegExp(`${code}|${cookie}|${pageSecret}`))
    expect((await eventsOf('token.exposed')).filter(event => event.token !== undefined)).toHaveLength(2)
  })

  it('L1: a credential is never streamed, however it is split into deltas', async () => {
    const subscriber = await fixture.subscribe()
    const text = `token: ${secret}, done`
    for (let at = 0; at < text.length; at += 10)
      await agent.append({ type: 'message.delta', block: 'a', offset: at, text: text.slice(at, at + 10) })
    const late = await fixture.subscribe()
    await fixture.clock.advance(1000)
    const streamed = subscriber.frames.flatMap(frame => (frame.frame === 'delta' ? frame.delta.text : []))
    expect(streamed.join('')).toBe(`token: ${masked}, done`)
    expect(late.subscription.hello.blocks).toMatchObject([{ text: `token: ${masked}, done` }])
    await agent.append({ type: 'message.added', block: 'a', text })
    expect(JSON.stringify(subscriber.frames)).not.toContain(secret.slice(0, 20))
    expect(await eventsOf('token.exposed')).toHaveLength(1)
  })

  it('L1: a credential is masked in titles, reasons and outcomes too', async () => {
    const { id } = await fixture.externalAgent('startSession', { driver: 'external', title: `t ${secret}` })
    expect((await fixture.person('getSession', { id })).title).toBe(`t ${masked}`)
    const request = await agent.ask('k')
    await fixture.deny(request)
    const report = { id: request.id, state: 'undeliverable', reason: secret, fence: agent.fence } as const
    await fixture.runner('reportDelivery', report)
    expect(await storeText()).not.toContain(secret)
  })

  it('L1: a credential in a call that names another session raises an alarm outside that session', async () => {
    const items = [{ type: 'message.added' as const, block: 'a', text: secret }]
    await expect(fixture.externalAgent('appendEvents', { id: agent.session.id, items })).rejects.toThrow()
    expect(await eventsOf('error.raised')).toEqual([])
    expect(await eventsOf('token.exposed')).toMatchObject([{ in: null, by: robot.name }])
  })
})

describe('a credential in an ask', () => {
  const rule = 'rul_00000000000000000002'

  it('P11: a built-in rule denies an ask with a credential, and the ask is stored with the credential masked', async () => {
    const request = await agent.ask('k', approval(`curl -H "authorization: Bearer ${secret}"`, { title: 'curl' }))
    expect(request.resolution).toMatchObject({ by: 'rule', rule, answer: { kind: 'deny' } })
    expect(request.ask).toMatchObject({ input: { command: `curl -H "authorization: Bearer ${masked}"` } })
    expect(await storeText()).not.toContain(secret)
    expect(await eventsOf('token.exposed')).toMatchObject([{ token, operation: 'openRequest' }])
    const again = await agent.ask('k', approval(`curl -H "authorization: Bearer ${secret}"`, { title: 'curl' }))
    expect(again.id).toBe(request.id)
  })

  it('P11: checkTool denies a call with a credential that the agent would run without asking', async () => {
    const call = { id: agent.session.id, tool: 'Bash', input: { command: `echo ${secret}` }, fence: agent.fence }
    expect(await fixture.runner('checkTool', call)).toMatchObject({ verdict: 'deny', rule })
    expect(await eventsOf('token.exposed')).toMatchObject([{ operation: 'checkTool' }])
  })

  it('P8: an edited input with a credential is refused', async () => {
    const request = await agent.ask('k')
    const answer = { kind: 'allow', input: { command: `echo ${secret}` } } as const
    const edited = fixture.person('answerRequest', { id: request.id, digest: request.digest, answer })
    await expect(edited).rejects.toMatchObject({ code: 'answer_mismatch' })
  })

  it('L1: a credential is masked in questions and descriptions, and people can still answer', async () => {
    const ask: Ask = {
      kind: 'questions',
      questions: [
        {
          id: 'q',
          header: 'h',
          question: `Use ${secret}?`,
          options: [{ label: 'yes' }],
          multiSelect: false,
          allowOther: false,
          secret: false,
        },
      ],
    }
    const request = await agent.ask('k', ask)
    expect(request).toMatchObject({ status: 'pending', ask: { questions: [{ question: `Use ${masked}?` }] } })
    const described = await agent.ask('k2', approval('ls', { description: secret }))
    expect(described).toMatchObject({ status: 'pending', ask: { description: masked } })
  })
})

it('a person may send a credential, for example to a program that needs a credential', async () => {
  const { id } = agent.session
  await fixture.person('sendMessage', { id, text: `use ${secret}` })
  expect((await fixture.store.find('command', {})).at(-1)).toMatchObject({ body: { text: `use ${secret}` } })
  expect(await eventsOf('token.exposed')).toEqual([])
})
