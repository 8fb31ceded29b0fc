/** What stops Claude Code: an interrupt, an end, an answer that says so; and that nothing holds them up or is left behind. */
import type { Call, SessionId } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { ManualClock } from '../runner-fixture.ts'
import { advanceUntil, ClaudeFixture, isAlive, waitUntil, wrapClaude } from './claude-fixture.ts'
import { bash, type ModelScript, say, steps } from './model.ts'

let claude: ClaudeFixture
afterEach(() => claude.close())

const echo = bash('echo ran >> ran.txt')
const hanging: ModelScript = () => new Promise(() => {})
const done = (count: number) => claude.waitFor(() => claude.eventsOf('command.done')[count - 1])
const freeze = (id: SessionId) => process.kill(claude.pidOf(id) ?? Number.NaN, 'SIGSTOP')

describe('a change that Claude Code does not answer', () => {
  it('holds up no interrupt', async () => {
    const clock = new ManualClock()
    claude = await ClaudeFixture.create(hanging, { clock })
    const id = await claude.startClaude()
    await waitUntil(() => claude.model.calls.length > 0)
    const pid = claude.pidOf(id)
    freeze(id)
    await claude.asPerson('patchSession', { id, mode: 'acceptEdits' })
    await claude.asPerson('interruptSession', { id })
    await advanceUntil(clock, claude.waitForTurnEnd())
    expect((await claude.waitForTurnEnd()).ending).toBe('interrupted')
    expect(isAlive(pid)).toBe(false)
    await advanceUntil(clock, done(3))
    expect((await claude.asPerson('getSession', { id })).mode).toBe('default')
  })

  it('holds up no end, and the process is gone', async () => {
    claude = await ClaudeFixture.create(hanging)
    const id = await claude.startClaude()
    await waitUntil(() => claude.model.calls.length > 0)
    const pid = claude.pidOf(id)
    freeze(id)
    await claude.asPerson('patchSession', { id, model: 'another' })
    await claude.asPerson('endSession', { id })
    await waitUntil(() => !isAlive(pid))
  })

  it('is given up after a while, with a sentence; the next message runs as before', async () => {
    const clock = new ManualClock()
    claude = await ClaudeFixture.create(() => [say('hello')], { clock })
    const id = await claude.startClaude()
    await claude.waitForTurnEnd()
    const pid = claude.pidOf(id)
    freeze(id)
    await claude.asPerson('patchSession', { id, mode: 'acceptEdits' })
    await claude.asPerson('sendMessage', { id, text: 'still there?' })
    await advanceUntil(clock, done(2))
    expect((await done(2)).outcome).toMatchObject({ ok: false, reason: expect.stringContaining('did not answer') })
    expect((await claude.waitForTurnEnd(2)).ending).toBe('done')
    expect(isAlive(pid)).toBe(false)
    expect((await claude.asPerson('getSession', { id })).mode).toBe('default')
  })
})

/** Its runner, with something done at the moment that a request reaches the gateway, and at the moment that it is there. */
function meeting(before: () => Promise<unknown>, after: () => Promise<unknown> = async () => {}): Call {
  let met = false
  return async (op, input, options) => {
    if (op !== 'openRequest' || met) return claude.asRunner(op, input, options)
    met = true
    await before()
    const opened = await claude.asRunner(op, input, options)
    await after()
    return opened
  }
}

describe('an interrupt that meets an ask', () => {
  async function meet(after: () => Promise<unknown> = async () => {}) {
    claude = await ClaudeFixture.create(steps([echo]))
    let id: SessionId
    const interrupt = () => claude.asPerson('interruptSession', { id })
    claude.startRunner([claude.driver()], { call: meeting(interrupt, after) })
    id = await claude.startSession('claude', { cwd: claude.cwd, parkAfterMs: null })
    expect((await claude.waitForTurnEnd()).ending).toBe('interrupted')
    await done(2)
    return id
  }

  it('leaves nothing to be answered', async () => {
    await meet()
    expect(await claude.getRequest()).toMatchObject({ status: 'resolved', resolution: { by: 'agent' } })
    expect(claude.readFile('ran.txt')).toBeNull()
  })

  it('leaves no answer on its way: what was said in that moment reaches nobody, and says so', async () => {
    const id = await meet(async () => claude.answer(await claude.waitForRequest(), { kind: 'allow' }))
    expect((await claude.getRequest()).delivery.state).toBe('undeliverable')
    await claude.asPerson('sendMessage', { id, text: 'and now?' })
    await claude.waitForTurnEnd(2)
    expect(claude.readFile('ran.txt')).toBeNull()
  })
})

describe('an interrupt that Claude Code has not heard of yet', () => {
  it('lets nothing be asked', async () => {
    const late = `while IFS= read -r line; do case "$line" in *'"subtype":"interrupt"'*) (sleep 1; printf '%s\\n' "$line") & ;; *) printf '%s\\n' "$line";; esac; done | "$claude" "$@"`
    let heard = () => {}
    const interrupting = new Promise<void>(resolve => {
      heard = resolve
    })
    const script: ModelScript = () => interrupting.then(() => [echo])
    claude = await ClaudeFixture.create(script, { executable: wrapClaude(late) })
    const call: Call = async (op, input, options) => {
      const output = await claude.asRunner(op, input, options)
      if (op === 'listCommands' && JSON.stringify(output).includes('"interrupt"')) setImmediate(heard)
      return output
    }
    claude.startRunner([claude.driver()], { call })
    const id = await claude.startSession('claude', { cwd: claude.cwd, parkAfterMs: null })
    await waitUntil(() => claude.model.calls.length > 0)
    await claude.asPerson('interruptSession', { id })
    expect((await claude.waitForTurnEnd()).ending).toBe('interrupted')
    expect(claude.eventsOf('tool.started')).toHaveLength(1)
    expect(claude.eventsOf('request.opened')).toEqual([])
    expect(claude.readFile('ran.txt')).toBeNull()
  })

  it('and that meets an answer on its way leaves it accounted for', async () => {
    claude = await ClaudeFixture.create(steps([echo]))
    let id: SessionId
    let met = false
    const call: Call = async (op, input, options) => {
      const output = await claude.asRunner(op, input, options)
      if (op !== 'reportDelivery' || met) return output
      met = true
      await claude.asPerson('interruptSession', { id })
      await claude.waitForTurnEnd()
      return output
    }
    claude.startRunner([claude.driver()], { call })
    id = await claude.startSession('claude', { cwd: claude.cwd, parkAfterMs: null })
    await claude.answer(await claude.waitForRequest(), { kind: 'allow' })
    await claude.waitForEvent('request.undeliverable')
    expect((await claude.waitForTurnEnd()).ending).toBe('interrupted')
    expect(claude.readFile('ran.txt')).toBeNull()
  })
})

describe('an interrupt while nothing goes on', () => {
  it('stops nothing that comes after it', async () => {
    const script: ModelScript = ({ prompt, results }) =>
      prompt === 'now' && results.length === 0 ? [echo] : [say('ready')]
    claude = await ClaudeFixture.create(script)
    const id = await claude.startClaude()
    await claude.waitForTurnEnd()
    await claude.asPerson('interruptSession', { id })
    await done(2)
    await claude.asPerson('sendMessage', { id, text: 'now' })
    await claude.answer(await claude.waitForRequest(), { kind: 'allow' })
    expect((await claude.waitForTurnEnd(2)).ending).toBe('done')
    expect(claude.readFile('ran.txt')).toBe('ran\n')
  })
})

describe('a refusal that stops the turn', () => {
  it('is told to the agent with its reason when it hears of the person next', async () => {
    const script: ModelScript = ({ prompt }) => (prompt === 'go' ? [echo] : [say('I see')])
    claude = await ClaudeFixture.create(script)
    const id = await claude.startClaude()
    await claude.answer(await claude.waitForRequest(), { kind: 'deny', reason: 'not before noon', interrupt: true })
    expect((await claude.waitForTurnEnd()).ending).toBe('cancelled')
    expect(claude.model.calls).toHaveLength(1)
    await claude.asPerson('sendMessage', { id, text: 'go on with the rest' })
    expect((await claude.waitForTurnEnd(2)).ending).toBe('done')
    expect(claude.model.hasRead('not before noon')).toBe(true)
    expect(claude.model.calls.at(-1)?.prompt).toBe('go on with the rest')
  })
})

describe('a program that is not Claude Code', () => {
  it('and never says a word fails the turn after a while, and is ended', async () => {
    const clock = new ManualClock()
    claude = await ClaudeFixture.create(() => [], { clock, executable: wrapClaude('exec sleep 600') })
    const id = await claude.startClaude()
    await waitUntil(() => claude.pidOf(id) !== null)
    const pid = claude.pidOf(id)
    await advanceUntil(clock, claude.waitForTurnEnd())
    expect((await claude.waitForTurnEnd()).ending).toBe('failed')
    expect((await claude.waitForEvent('error.raised')).message).toContain('said nothing')
    await waitUntil(() => !isAlive(pid))
  })
})
