import { fileURLToPath } from 'node:url'
import type { Answer, Request } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { ClaudeFixture } from './claude-fixture.ts'
import { bash, call, type Play, say, steps } from './model.ts'

let house: ClaudeFixture
afterEach(() => house.close())

describe('a form of an MCP server', () => {
  const server = fileURLToPath(new URL('./form-server.mjs', import.meta.url))
  const options = { mcpServers: { shop: { command: process.execPath, args: [server] } } }
  const order = (how: string) => steps([call('mcp__shop__order', { how }, 'toolu_1')])
  async function fill(how: string, answer: Answer): Promise<Request> {
    house = await ClaudeFixture.open(order(how))
    await house.start({ options })
    await house.stage.answer(await house.asked(), { kind: 'allow' })
    const opened = await house.stage.seen('request.opened', event => event.value.ask.kind === 'form')
    await house.stage.answer(opened.value, answer)
    await house.over()
    return house.stage.person('getRequest', { id: opened.value.id })
  }

  it('reaches the person, and what they filled in reaches the server', async () => {
    const request = await fill('form', { kind: 'submit', values: { count: 3 } })
    expect(request.ask).toMatchObject({ message: 'How many?', schema: { required: ['count'] } })
    expect(request.delivery.state).toBe('taken')
    expect(house.model.told()).toContain('"action":"accept"')
    expect(house.model.told()).toContain('"count":3')
  })

  it('may be declined', async () => {
    await fill('form', { kind: 'decline' })
    expect(house.model.told()).toContain('"action":"decline"')
  })

  it('that nobody answered is told to be cancelled: nothing is accepted by silence', async () => {
    house = await ClaudeFixture.open(order('form'))
    await house.start({ options, deadlineMs: 1000, onDeadline: 'deny' })
    await house.stage.answer(await house.asked(), { kind: 'allow' })
    const { value } = await house.stage.seen('request.opened', event => event.value.ask.kind === 'form')
    await house.over()
    expect((await house.stage.person('getRequest', { id: value.id })).resolution?.by).toBe('deadline')
    expect(house.model.told()).toContain('"action":"cancel"')
  })

  it('may be a link to open', async () => {
    const request = await fill('link', { kind: 'submit', values: {} })
    expect(request.ask).toMatchObject({ url: 'https://example.org/sign-in' })
    expect(house.model.told()).toContain('"action":"accept"')
  })
})

/** Two agents at once, each with a command of its own; then done. */
const parents: Play = ({ prompt, results, all }) => {
  for (const name of ['one', 'two'])
    if (prompt === `touch ${name}`)
      return results.length === 0 ? [bash(`touch ${name}.txt`, `toolu_${name}`)] : [say(`${name} is over`)]
  if (all.includes('toolu_agent_one')) return [say('done')]
  return ['one', 'two'].map(name =>
    call(
      'Agent',
      {
        description: `agent ${name}`,
        prompt: `touch ${name}`,
        subagent_type: 'general-purpose',
        run_in_background: false,
      },
      `toolu_agent_${name}`,
    ),
  )
}

describe('agents under the agent', () => {
  it('wait at once, each under its name, and are answered in reverse order', async () => {
    house = await ClaudeFixture.open(parents)
    await house.start()
    const [one, two] = [await house.asked('toolu_one'), await house.asked('toolu_two')]
    expect(one.agentPath).toEqual(['agent one'])
    expect(two.agentPath).toEqual(['agent two'])
    await house.stage.answer(two, { kind: 'allow' })
    await house.stage.seen('tool.finished', event => event.block === 'toolu_two')
    expect(house.file('two.txt')).toBe('')
    expect(house.file('one.txt')).toBeNull()
    await house.stage.answer(one, { kind: 'deny', reason: 'not you' })
    await house.over()
    expect(house.file('one.txt')).toBeNull()
    expect(house.model.told('toolu_one')).toContain('not you')
    const started = house.stage.log('tool.started').find(event => event.block === 'toolu_two')
    expect(started?.agentPath).toEqual(['agent two'])
    expect(house.stage.log('message.added').find(event => event.text === 'two is over')?.agentPath).toEqual([
      'agent two',
    ])
  })

  it('have agents of their own, each under its own name', async () => {
    const agent = (name: string, id: string) =>
      call('Agent', { description: name, prompt: name, subagent_type: 'general-purpose', run_in_background: false }, id)
    const play: Play = ({ prompt, results }) => {
      if (results.length > 0) return [say(`${prompt} is over`)]
      if (prompt === 'go') return [agent('outer', 'toolu_outer')]
      return prompt === 'outer' ? [agent('inner', 'toolu_inner')] : [bash('touch deep.txt')]
    }
    house = await ClaudeFixture.open(play)
    await house.start()
    const request = await house.asked()
    expect(request.agentPath).toEqual(['outer', 'inner'])
    await house.stage.answer(request, { kind: 'allow' })
    await house.over()
    expect(house.file('deep.txt')).toBe('')
    const paths = new Map(house.stage.log('message.added').map(event => [event.text, event.agentPath]))
    expect(paths.get('inner is over')).toEqual(['outer', 'inner'])
    expect(paths.get('outer is over')).toEqual(['outer'])
    expect(paths.get('go is over')).toBeUndefined()
  })
})
