import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { alive, ClaudeFixture, eventually } from './claude-fixture.ts'
import { bash, call, type Play, say, steps } from './model.ts'

let house: ClaudeFixture
afterEach(() => house.close())

const echo = steps([bash('echo ran >> ran.txt')])
const kill = (pid: number | null) => process.kill(pid ?? Number.NaN, 'SIGKILL')

describe('Claude Code, killed while it waits,', () => {
  it('is brought back by the answer, and what was allowed runs once', async () => {
    house = await ClaudeFixture.open(echo, { parks: true })
    const id = await house.start()
    const request = await house.asked()
    await house.onRecord(id)
    kill(house.pid(id))
    await house.parked(id)
    expect((await house.request()).status).toBe('pending')
    await house.stage.answer(request, { kind: 'allow' })
    expect((await house.over()).ending).toBe('done')
    expect(house.file('ran.txt')).toBe('ran\n')
    expect(house.stage.log('request.opened')).toHaveLength(1)
  })

  it('before anything was on record, is given the message again, and its identical call gets the recorded answer', async () => {
    let asked = 0
    const play: Play = ({ results }) =>
      results.length > 0 ? [say('done')] : [bash('echo ran >> ran.txt', `toolu_${++asked}`)]
    house = await ClaudeFixture.open(play, { parks: true })
    const id = await house.start()
    const request = await house.asked()
    kill(house.pid(id))
    await house.parked(id)
    await house.stage.answer(request, { kind: 'allow' })
    expect((await house.over()).ending).toBe('done')
    expect(house.file('ran.txt')).toBe('ran\n')
    expect(house.stage.log('request.opened')).toHaveLength(1)
    expect((await house.request()).delivery.state).toBe('taken')
  })

  it('when the beginning of the record was all there was, is given the message again in a new conversation', async () => {
    let asked = 0
    const play: Play = ({ results }) =>
      results.length > 0 ? [say('done')] : [bash('echo ran >> ran.txt', `toolu_${++asked}`)]
    house = await ClaudeFixture.open(play, { parks: true })
    const id = await house.start()
    const request = await house.asked()
    await house.onRecord(id)
    kill(house.pid(id))
    await house.parked(id)
    rmSync(join(house.home, 'config', 'projects'), { recursive: true })
    const folder = join(house.home, 'driver', id)
    for (const name of readdirSync(folder).filter(file => file.endsWith('.jsonl'))) {
      const rows = readFileSync(join(folder, name), 'utf8').split('\n')
      const first = rows.filter(row => row.includes('"type":"queue-operation"'))
      expect(first.length).toBeGreaterThan(0)
      writeFileSync(join(folder, name), `${first.join('\n')}\n`)
    }
    await house.stage.answer(request, { kind: 'allow' })
    expect((await house.over()).ending).toBe('done')
    expect(house.file('ran.txt')).toBe('ran\n')
    expect((await house.request()).delivery.state).toBe('taken')
  })

  it('with two agents waiting, is told what was decided, and runs what was allowed when it makes the same call', async () => {
    const agent = (name: string) =>
      call(
        'Agent',
        { description: name, prompt: name, subagent_type: 'general-purpose', run_in_background: false },
        `agent_${name}`,
      )
    const play: Play = ({ prompt, results, all }) => {
      if (prompt === 'one' || prompt === 'two')
        return results.length > 0 ? [say('over')] : [bash(`touch ${prompt}.txt`, `toolu_${prompt}`)]
      if (!all.includes('agent_one')) return [agent('one'), agent('two')]
      return all.includes('toolu_again') ? [say('done')] : [bash('touch one.txt', 'toolu_again')]
    }
    house = await ClaudeFixture.open(play, { parks: true })
    const id = await house.start()
    const [one, two] = [await house.asked('toolu_one'), await house.asked('toolu_two')]
    await house.onRecord(id, 'agent_two')
    kill(house.pid(id))
    await house.parked(id)
    await house.stage.answer(one, { kind: 'allow' })
    await house.stage.answer(two, { kind: 'deny', reason: 'not two' })
    expect((await house.over()).ending).toBe('done')
    expect(house.model.read('not two')).toBe(true)
    expect(house.file('one.txt')).toBe('')
    expect(house.file('two.txt')).toBeNull()
    expect(house.stage.log('request.opened')).toHaveLength(2)
  })
})

describe('two equal calls that wait when Claude Code is killed', () => {
  it('are two: what was allowed of them runs once, and the other waits on under its own request', async () => {
    const same = (id: string) => bash('echo same >> ran.txt', id)
    const agent = (name: string) =>
      call(
        'Agent',
        { description: name, prompt: name, subagent_type: 'general-purpose', run_in_background: false },
        `agent_${name}`,
      )
    const play: Play = ({ prompt, results, all }) => {
      if (prompt === 'one' || prompt === 'two') return results.length > 0 ? [say('over')] : [same(`toolu_${prompt}`)]
      if (!all.includes('agent_one')) return [agent('one'), agent('two')]
      if (!all.includes('toolu_again')) return [same('toolu_again')]
      return all.includes('toolu_and_again') ? [say('done')] : [same('toolu_and_again')]
    }
    house = await ClaudeFixture.open(play, { parks: true })
    const id = await house.start()
    const [one, two] = [await house.asked('toolu_one'), await house.asked('toolu_two')]
    await house.onRecord(id, 'agent_two')
    kill(house.pid(id))
    await house.parked(id)
    // The later of them: which of two equal calls is meant is for the answers to say, not for their order.
    await house.stage.answer(two, { kind: 'allow' })
    await house.stage.seen('tool.finished', event => event.block === 'toolu_again')
    expect(house.file('ran.txt')).toBe('same\n')
    await house.stage.seen('tool.started', event => event.block === 'toolu_and_again')
    await house.stage.answer(one, { kind: 'deny', reason: 'once is enough' })
    await house.over()
    expect(house.file('ran.txt')).toBe('same\n')
    expect(house.model.told('toolu_and_again')).toContain('once is enough')
    expect(house.stage.log('request.opened')).toHaveLength(2)
  })
})

describe('Claude Code, killed while an allowed command runs,', () => {
  it('does not run it again: the model reads that its outcome is unknown', async () => {
    house = await ClaudeFixture.open(steps([bash('echo ran >> ran.txt; sleep 30')]), { parks: true })
    const id = await house.start()
    await house.stage.answer(await house.asked(), { kind: 'allow' })
    await eventually(() => house.file('ran.txt') !== null)
    kill(house.pid(id))
    expect((await house.over()).ending).toBe('done')
    expect(house.file('ran.txt')).toBe('ran\n')
    expect(house.model.told()).toContain('its outcome is unknown')
    expect((await house.request()).delivery.state).toBe('unknown')
    expect(house.stage.log('request.opened')).toHaveLength(1)
  })

  it('takes the command with it', async () => {
    house = await ClaudeFixture.open(steps([bash('echo $$ > pid.txt; sleep 30')]), { parks: true })
    const id = await house.start()
    await house.stage.answer(await house.asked(), { kind: 'allow' })
    await eventually(() => (house.file('pid.txt') ?? '').endsWith('\n'))
    kill(house.pid(id))
    await house.over()
    await eventually(() => !alive(Number(house.file('pid.txt'))))
  })
})

describe('Claude Code, killed in the middle of a turn,', () => {
  it('fails the turn with a sentence, and the next message goes on from there', async () => {
    house = await ClaudeFixture.open(({ prompt }) => (prompt === 'go' ? new Promise(() => {}) : [say('here again')]))
    const id = await house.start()
    await eventually(() => house.model.scenes.length > 0)
    await house.onRecord(id, '"user"')
    kill(house.pid(id))
    expect((await house.over()).ending).toBe('failed')
    expect((await house.stage.seen('error.raised')).message).toContain('SIGKILL')
    await house.stage.person('sendMessage', { id, text: 'still there?' })
    expect((await house.over(2)).ending).toBe('done')
    expect(house.stage.texts()).toEqual(['here again'])
  })
})

describe('a gateway that goes and comes back', () => {
  it('is not noticed by a Claude Code that waits', async () => {
    house = await ClaudeFixture.open(echo)
    const id = await house.start()
    const request = await house.asked()
    const pid = house.pid(id)
    await house.stage.restart()
    await house.stage.answer(request, { kind: 'allow' })
    expect((await house.over()).ending).toBe('done')
    expect(house.pid(id)).toBe(pid)
    expect(house.file('ran.txt')).toBe('ran\n')
    expect(house.model.scenes).toHaveLength(2)
  })
})
