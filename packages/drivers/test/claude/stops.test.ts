/** What stops Claude Code: an interrupt, an end, an answer that says so; and that nothing holds them up or is left behind. */
import type { Call, SessionId } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { ManualClock } from '../runner-fixture.ts'
import { alive, ClaudeFixture, claudeBehind, eventually, pass } from './claude-fixture.ts'
import { bash, type Play, say, steps } from './model.ts'

let house: ClaudeFixture
afterEach(() => house.close())

const echo = bash('echo ran >> ran.txt')
const hanging: Play = () => new Promise(() => {})
const done = (count: number) => house.stage.until(() => house.stage.log('command.done')[count - 1])
const freeze = (id: SessionId) => process.kill(house.pid(id) ?? Number.NaN, 'SIGSTOP')

describe('a change that Claude Code does not answer', () => {
  it('holds up no interrupt', async () => {
    const clock = new ManualClock()
    house = await ClaudeFixture.open(hanging, { clock })
    const id = await house.start()
    await eventually(() => house.model.scenes.length > 0)
    const pid = house.pid(id)
    freeze(id)
    await house.stage.person('patchSession', { id, mode: 'acceptEdits' })
    await house.stage.person('interruptSession', { id })
    await pass(clock, house.over())
    expect((await house.over()).ending).toBe('interrupted')
    expect(alive(pid)).toBe(false)
    await pass(clock, done(3))
    expect((await house.stage.person('getSession', { id })).mode).toBe('default')
  })

  it('holds up no end, and the process is gone', async () => {
    house = await ClaudeFixture.open(hanging)
    const id = await house.start()
    await eventually(() => house.model.scenes.length > 0)
    const pid = house.pid(id)
    freeze(id)
    await house.stage.person('patchSession', { id, model: 'another' })
    await house.stage.person('endSession', { id })
    await eventually(() => !alive(pid))
  })

  it('is given up after a while, with a sentence; the next message runs as before', async () => {
    const clock = new ManualClock()
    house = await ClaudeFixture.open(() => [say('hello')], { clock })
    const id = await house.start()
    await house.over()
    const pid = house.pid(id)
    freeze(id)
    await house.stage.person('patchSession', { id, mode: 'acceptEdits' })
    await house.stage.person('sendMessage', { id, text: 'still there?' })
    await pass(clock, done(2))
    expect((await done(2)).outcome).toMatchObject({ ok: false, reason: expect.stringContaining('did not answer') })
    expect((await house.over(2)).ending).toBe('done')
    expect(alive(pid)).toBe(false)
    expect((await house.stage.person('getSession', { id })).mode).toBe('default')
  })
})

/** Its runner, with something done at the moment that a request reaches the gateway, and at the moment that it is there. */
function meeting(before: () => Promise<unknown>, after: () => Promise<unknown> = async () => {}): Call {
  let met = false
  return async (op, input, options) => {
    if (op !== 'openRequest' || met) return house.stage.runner(op, input, options)
    met = true
    await before()
    const opened = await house.stage.runner(op, input, options)
    await after()
    return opened
  }
}

describe('an interrupt that meets an ask', () => {
  async function meet(after: () => Promise<unknown> = async () => {}) {
    house = await ClaudeFixture.open(steps([echo]))
    let id: SessionId
    const interrupt = () => house.stage.person('interruptSession', { id })
    house.stage.run([house.driver()], { call: meeting(interrupt, after) })
    id = await house.stage.start('claude', { cwd: house.cwd, parkAfterMs: null })
    expect((await house.over()).ending).toBe('interrupted')
    await done(2)
    return id
  }

  it('leaves nothing to be answered', async () => {
    await meet()
    expect(await house.request()).toMatchObject({ status: 'resolved', resolution: { by: 'agent' } })
    expect(house.file('ran.txt')).toBeNull()
  })

  it('leaves no answer on its way: what was said in that moment reaches nobody, and says so', async () => {
    const id = await meet(async () => house.stage.answer(await house.asked(), { kind: 'allow' }))
    expect((await house.request()).delivery.state).toBe('undeliverable')
    await house.stage.person('sendMessage', { id, text: 'and now?' })
    await house.over(2)
    expect(house.file('ran.txt')).toBeNull()
  })
})

describe('an interrupt that Claude Code has not heard of yet', () => {
  it('lets nothing be asked', async () => {
    const late = `while IFS= read -r line; do case "$line" in *'"subtype":"interrupt"'*) (sleep 1; printf '%s\\n' "$line") & ;; *) printf '%s\\n' "$line";; esac; done | "$claude" "$@"`
    let heard = () => {}
    const interrupting = new Promise<void>(resolve => {
      heard = resolve
    })
    const play: Play = () => interrupting.then(() => [echo])
    house = await ClaudeFixture.open(play, { executable: claudeBehind(late) })
    const call: Call = async (op, input, options) => {
      const output = await house.stage.runner(op, input, options)
      if (op === 'listCommands' && JSON.stringify(output).includes('"interrupt"')) setImmediate(heard)
      return output
    }
    house.stage.run([house.driver()], { call })
    const id = await house.stage.start('claude', { cwd: house.cwd, parkAfterMs: null })
    await eventually(() => house.model.scenes.length > 0)
    await house.stage.person('interruptSession', { id })
    expect((await house.over()).ending).toBe('interrupted')
    expect(house.stage.log('tool.started')).toHaveLength(1)
    expect(house.stage.log('request.opened')).toEqual([])
    expect(house.file('ran.txt')).toBeNull()
  })

  it('and that meets an answer on its way leaves it accounted for', async () => {
    house = await ClaudeFixture.open(steps([echo]))
    let id: SessionId
    let met = false
    const call: Call = async (op, input, options) => {
      const output = await house.stage.runner(op, input, options)
      if (op !== 'reportDelivery' || met) return output
      met = true
      await house.stage.person('interruptSession', { id })
      await house.over()
      return output
    }
    house.stage.run([house.driver()], { call })
    id = await house.stage.start('claude', { cwd: house.cwd, parkAfterMs: null })
    await house.stage.answer(await house.asked(), { kind: 'allow' })
    await house.stage.seen('request.undeliverable')
    expect((await house.over()).ending).toBe('interrupted')
    expect(house.file('ran.txt')).toBeNull()
  })
})

describe('an interrupt while nothing goes on', () => {
  it('stops nothing that comes after it', async () => {
    const play: Play = ({ prompt, results }) => (prompt === 'now' && results.length === 0 ? [echo] : [say('ready')])
    house = await ClaudeFixture.open(play)
    const id = await house.start()
    await house.over()
    await house.stage.person('interruptSession', { id })
    await done(2)
    await house.stage.person('sendMessage', { id, text: 'now' })
    await house.stage.answer(await house.asked(), { kind: 'allow' })
    expect((await house.over(2)).ending).toBe('done')
    expect(house.file('ran.txt')).toBe('ran\n')
  })
})

describe('a refusal that stops the turn', () => {
  it('is told to the agent with its reason when it hears of the person next', async () => {
    const play: Play = ({ prompt }) => (prompt === 'go' ? [echo] : [say('I see')])
    house = await ClaudeFixture.open(play)
    const id = await house.start()
    await house.stage.answer(await house.asked(), { kind: 'deny', reason: 'not before noon', interrupt: true })
    expect((await house.over()).ending).toBe('cancelled')
    expect(house.model.scenes).toHaveLength(1)
    await house.stage.person('sendMessage', { id, text: 'go on with the rest' })
    expect((await house.over(2)).ending).toBe('done')
    expect(house.model.read('not before noon')).toBe(true)
    expect(house.model.scenes.at(-1)?.prompt).toBe('go on with the rest')
  })
})

describe('a program that is not Claude Code', () => {
  it('and never says a word fails the turn after a while, and is ended', async () => {
    const clock = new ManualClock()
    house = await ClaudeFixture.open(() => [], { clock, executable: claudeBehind('exec sleep 600') })
    const id = await house.start()
    await eventually(() => house.pid(id) !== null)
    const pid = house.pid(id)
    await pass(clock, house.over())
    expect((await house.over()).ending).toBe('failed')
    expect((await house.stage.seen('error.raised')).message).toContain('said nothing')
    await eventually(() => !alive(pid))
  })
})
