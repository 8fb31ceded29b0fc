/** Tests stopping Claude Code by an interrupt, by ending the session, and by an answer: nothing delays the stop, and no request or process remains. */
import type { Call, SessionId } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { ManualClock } from '../runner-fixture.ts'
import { advanceUntil, ClaudeFixture, isAlive, waitUntil, wrapClaude } from './claude-fixture.ts'
import { bash, type ModelScript, say, steps } from './model.ts'

let claude: ClaudeFixture
afterEach(() => claude.close())

const echo = bash('echo ran >> ran.txt')
const neverReplies: ModelScript = () => new Promise(() => {})
const commandDone = (nth: number) => claude.waitFor(() => claude.eventsOf('command.done')[nth - 1])
const freeze = (id: SessionId) => process.kill(claude.pidOf(id) ?? Number.NaN, 'SIGSTOP')

describe('when Claude Code does not confirm a change of mode or model', () => {
  it('an interrupt is not delayed if Claude Code does not confirm a change of mode or model', async () => {
    const clock = new ManualClock()
    claude = await ClaudeFixture.create(neverReplies, { clock })
    const id = await claude.startClaude()
    await waitUntil(() => claude.model.calls.length > 0)
    const pid = claude.pidOf(id)
    freeze(id)
    await claude.asPerson('patchSession', { id, mode: 'acceptEdits' })
    await claude.asPerson('interruptSession', { id })
    await advanceUntil(clock, claude.waitForTurnEnd())
    expect((await claude.waitForTurnEnd()).ending).toBe('interrupted')
    expect(isAlive(pid)).toBe(false)
    await advanceUntil(clock, commandDone(3))
    expect((await claude.asPerson('getSession', { id })).mode).toBe('default')
  })

  it('a person can end a session whose Claude Code does not confirm a change of mode or model, and its process exits', async () => {
    claude = await ClaudeFixture.create(neverReplies)
    const id = await claude.startClaude()
    await waitUntil(() => claude.model.calls.length > 0)
    const pid = claude.pidOf(id)
    freeze(id)
    await claude.asPerson('patchSession', { id, model: 'another' })
    await claude.asPerson('endSession', { id })
    await waitUntil(() => !isAlive(pid))
  })

  it('a change of mode or model that Claude Code does not confirm fails after a timeout with a reason, and the next message is processed with the old settings', async () => {
    const clock = new ManualClock()
    claude = await ClaudeFixture.create(() => [say('hello')], { clock })
    const id = await claude.startClaude()
    await claude.waitForTurnEnd()
    const pid = claude.pidOf(id)
    freeze(id)
    await claude.asPerson('patchSession', { id, mode: 'acceptEdits' })
    await claude.asPerson('sendMessage', { id, text: 'still there?' })
    await advanceUntil(clock, commandDone(2))
    expect((await commandDone(2)).outcome).toMatchObject({
      ok: false,
      reason: expect.stringContaining('did not respond'),
    })
    expect((await claude.waitForTurnEnd(2)).ending).toBe('done')
    expect(isAlive(pid)).toBe(false)
    expect((await claude.asPerson('getSession', { id })).mode).toBe('default')
  })
})

/** Returns a `Call` for the runner that runs `before` and `after` directly before and after the first request is opened. */
function aroundFirstRequest(before: () => Promise<unknown>, after: () => Promise<unknown> = async () => {}): Call {
  let isDone = false
  return async (op, input, options) => {
    if (op !== 'openRequest' || isDone) return claude.asRunner(op, input, options)
    isDone = true
    await before()
    const opened = await claude.asRunner(op, input, options)
    await after()
    return opened
  }
}

describe('when a person interrupts Claude Code while a request is being opened', () => {
  async function interruptWhileOpening(after: () => Promise<unknown> = async () => {}) {
    claude = await ClaudeFixture.create(steps([echo]))
    let id: SessionId
    const interrupt = () => claude.asPerson('interruptSession', { id })
    claude.startRunner([claude.driver()], { call: aroundFirstRequest(interrupt, after) })
    id = await claude.startSession('claude', { cwd: claude.cwd, parkAfterMs: null })
    expect((await claude.waitForTurnEnd()).ending).toBe('interrupted')
    await commandDone(2)
    return id
  }

  it('a request of Claude Code does not stay pending if a person interrupts the turn while the request is being opened', async () => {
    await interruptWhileOpening()
    expect(await claude.getRequest()).toMatchObject({ status: 'resolved', resolution: { by: 'agent' } })
    expect(claude.readFile('ran.txt')).toBeNull()
  })

  it('an answer to Claude Code is reported as undeliverable if a person has interrupted the turn while the request was being opened', async () => {
    const id = await interruptWhileOpening(async () => claude.answer(await claude.waitForRequest(), { kind: 'allow' }))
    expect((await claude.getRequest()).delivery.state).toBe('undeliverable')
    await claude.asPerson('sendMessage', { id, text: 'and now?' })
    await claude.waitForTurnEnd(2)
    expect(claude.readFile('ran.txt')).toBeNull()
  })
})

describe('when Claude Code has not processed an interrupt yet', () => {
  it('a new call opens no request while Claude Code has not processed an interrupt yet', async () => {
    const delayInterrupt = `while IFS= read -r line; do case "$line" in *'"subtype":"interrupt"'*) (sleep 1; printf '%s\\n' "$line") & ;; *) printf '%s\\n' "$line";; esac; done | "$claude" "$@"`
    let interruptSeen = () => {}
    const interrupting = new Promise<void>(resolve => {
      interruptSeen = resolve
    })
    const script: ModelScript = () => interrupting.then(() => [echo])
    claude = await ClaudeFixture.create(script, { executable: wrapClaude(delayInterrupt) })
    const call: Call = async (op, input, options) => {
      const output = await claude.asRunner(op, input, options)
      if (op === 'listCommands' && JSON.stringify(output).includes('"interrupt"')) setImmediate(interruptSeen)
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

  it('an answer that is being handed is reported as undeliverable if Claude Code has not processed an interrupt yet', async () => {
    claude = await ClaudeFixture.create(steps([echo]))
    let id: SessionId
    let isDone = false
    const call: Call = async (op, input, options) => {
      const output = await claude.asRunner(op, input, options)
      if (op !== 'reportDelivery' || isDone) return output
      isDone = true
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

describe('interrupting an idle Claude Code session', () => {
  it('interrupting an idle Claude Code session does not affect the next message', async () => {
    const script: ModelScript = ({ prompt, results }) =>
      prompt === 'now' && results.length === 0 ? [echo] : [say('ready')]
    claude = await ClaudeFixture.create(script)
    const id = await claude.startClaude()
    await claude.waitForTurnEnd()
    await claude.asPerson('interruptSession', { id })
    await commandDone(2)
    await claude.asPerson('sendMessage', { id, text: 'now' })
    await claude.answer(await claude.waitForRequest(), { kind: 'allow' })
    expect((await claude.waitForTurnEnd(2)).ending).toBe('done')
    expect(claude.readFile('ran.txt')).toBe('ran\n')
  })
})

describe('a denial of a Claude Code call with `interrupt: true`', () => {
  it('a denial with `interrupt: true` ends the turn, and Claude Code reads the reason with the next message', async () => {
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

describe('when the executable of Claude Code never replies', () => {
  it('if the executable of Claude Code never replies, the turn fails after a timeout and the process is stopped', async () => {
    const clock = new ManualClock()
    claude = await ClaudeFixture.create(() => [], { clock, executable: wrapClaude('exec sleep 600') })
    const id = await claude.startClaude()
    await waitUntil(() => claude.pidOf(id) !== null)
    const pid = claude.pidOf(id)
    await advanceUntil(clock, claude.waitForTurnEnd())
    expect((await claude.waitForTurnEnd()).ending).toBe('failed')
    expect((await claude.waitForEvent('error.raised')).message).toContain('did not respond within a minute')
    await waitUntil(() => !isAlive(pid))
  })
})
