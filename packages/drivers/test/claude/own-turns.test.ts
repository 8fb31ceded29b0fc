/** Turns that Claude Code begins by itself: when a command or an agent in the background has ended it calls its model, and an agent in the background asks while the main one is idle. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SessionId } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { ManualClock } from '../runner-fixture.ts'
import {
  advanceUntil,
  ClaudeFixture,
  type ClaudeFixtureOptions,
  isAlive,
  waitUntil,
  wrapClaude,
} from './claude-fixture.ts'
import { bash, type ModelCall, type ModelScript, say, toolUse } from './model.ts'

let claude: ClaudeFixture
afterEach(() => claude.close())

const echo = bash('echo ran >> ran.txt')
const beside = toolUse('Bash', { command: 'sleep 0.2', description: 'beside', run_in_background: true }, 'toolu_beside')
const helper = { description: 'helper', prompt: 'help', subagent_type: 'general-purpose', run_in_background: true }

const notified = ({ conversation }: ModelCall) => conversation.includes('<task-notification>')
const has = ({ results }: ModelCall, id: string) => results.some(result => result.id === id)

/** Leaves something running and is idle; when it has ended, does this by itself. */
const thenByItself =
  (...own: readonly Awaited<ReturnType<ModelScript>>[]): ModelScript =>
  call => {
    if (!has(call, 'toolu_beside')) return [beside]
    return notified(call) ? (own[call.results.length - 1] ?? [say('own over')]) : [say('idle now')]
  }
/** Leaves an agent running and is idle; that agent asks. */
const delegating: ModelScript = ({ prompt, results, conversation }) => {
  if (prompt === 'help') return results.length === 0 ? [echo] : [say('helped')]
  return conversation.includes('toolu_agent') ? [say(`heard ${prompt}`)] : [toolUse('Agent', helper, 'toolu_agent')]
}

const stateOf = async (id: SessionId) => (await claude.asPerson('getSession', { id })).state
const reached = (state: string) => claude.waitFor(() => states().at(-1) === state || undefined)
const states = () => claude.eventsOf('session.changed').map(event => event.value.state)
const kill = (id: SessionId) => process.kill(claude.pidOf(id) ?? Number.NaN, 'SIGKILL')
const release = () => writeFileSync(join(claude.cwd, 'go.txt'), '')
const untilReleased = (then: string, id?: string) => bash(`while [ ! -e go.txt ]; do sleep 0.05; done; ${then}`, id)

async function asked(
  script: ModelScript,
  more: Parameters<ClaudeFixture['startClaude']>[0] = {},
  options: ClaudeFixtureOptions = {},
) {
  claude = await ClaudeFixture.create(script, { knownParkable: true, ...options })
  const id = await claude.startClaude(more)
  const request = await claude.waitForRequest()
  return { id, request }
}

describe('a turn that Claude Code begins by itself', () => {
  it('is one: it works, asks, is answered, and finishes with what it used', async () => {
    const { id, request } = await asked(thenByItself([echo]))
    await claude.waitForTurnEnd(1)
    expect(await stateOf(id)).toBe('working')
    await claude.answer(request, { kind: 'allow' })
    expect(await claude.waitForTurnEnd(2)).toMatchObject({ ending: 'done', usage: expect.anything() })
    await reached('idle')
    expect(claude.readFile('ran.txt')).toBe('ran\n')
    expect(claude.agentTexts()).toEqual(['idle now', 'own over'])
    expect((await claude.getRequest()).delivery.state).toBe('taken')
    expect(claude.eventsOf('command.done')).toHaveLength(1)
  })

  it('parks while it waits, and the answer brings it back', async () => {
    const { id, request } = await asked(thenByItself([echo]), { parkAfterMs: 0 })
    await claude.waitUntilParked(id)
    expect(claude.pidOf(id)).toBeNull()
    await claude.answer(request, { kind: 'allow' })
    expect((await claude.waitForTurnEnd(2)).ending).toBe('done')
    expect(claude.readFile('ran.txt')).toBe('ran\n')
    expect(claude.eventsOf('request.opened')).toHaveLength(1)
    expect((await claude.getRequest()).delivery.state).toBe('taken')
    await claude.asPerson('sendMessage', { id, text: 'and now?' })
    expect((await claude.waitForTurnEnd(3)).ending).toBe('done')
  })

  it('goes on after its process was killed while it waited', async () => {
    const { id, request } = await asked(thenByItself([echo]))
    await claude.waitForTranscript(id)
    kill(id)
    await claude.waitUntilParked(id)
    expect((await claude.getRequest()).status).toBe('pending')
    await claude.answer(request, { kind: 'allow' })
    expect((await claude.waitForTurnEnd(2)).ending).toBe('done')
    expect(claude.readFile('ran.txt')).toBe('ran\n')
    expect((await claude.getRequest()).delivery.state).toBe('taken')
  })

  it('goes on with the next runner after the first was lost while it waited', async () => {
    claude = await ClaudeFixture.create(thenByItself([echo]), { knownParkable: true })
    const runner = claude.startRunner()
    const id = await claude.startSession('claude', { cwd: claude.cwd, parkAfterMs: null })
    const request = await claude.waitForRequest()
    await claude.waitForTranscript(id)
    const pid = claude.pidOf(id)
    runner.kill()
    await waitUntil(() => !isAlive(pid))
    claude.startRunner()
    await claude.waitUntilParked(id)
    await claude.answer(request, { kind: 'allow' })
    expect((await claude.waitForTurnEnd(2)).ending).toBe('done')
    expect(claude.readFile('ran.txt')).toBe('ran\n')
    expect((await claude.getRequest()).delivery.state).toBe('taken')
  })

  it('that was lost while an allowed call ran is told that its outcome is unknown, and does not run it twice', async () => {
    const { id, request } = await asked(thenByItself([bash('echo ran >> ran.txt; sleep 60')]))
    await claude.waitForTranscript(id)
    await claude.answer(request, { kind: 'allow' })
    await waitUntil(() => claude.readFile('ran.txt') !== null)
    kill(id)
    await claude.waitForTurnEnd(2)
    expect(claude.readFile('ran.txt')).toBe('ran\n')
    expect(claude.model.toolResult()).toContain('its outcome is unknown')
    expect((await claude.getRequest()).delivery.state).toBe('unknown')
  })

  it('that was lost in the middle of its work has failed, with a sentence', async () => {
    claude = await ClaudeFixture.create(thenByItself([untilReleased('true')]), { knownParkable: true })
    const id = await claude.startClaude({ mode: 'bypassPermissions' })
    await claude.waitForEvent('tool.started', event => event.block === 'toolu_1')
    await reached('working')
    kill(id)
    expect((await claude.waitForTurnEnd(2)).ending).toBe('failed')
    expect((await claude.waitForEvent('error.raised')).message).toContain('SIGKILL')
    await reached('idle')
  })

  it('is not idle: it is not parked as idle while it waits or works', async () => {
    const clock = new ManualClock()
    const { id, request } = await asked(
      thenByItself([echo], [untilReleased('echo over >> ran.txt', 'toolu_2')]),
      {},
      { clock, idleParkMs: 60_000 },
    )
    const pid = claude.pidOf(id)
    await clock.advance(300_000)
    expect(isAlive(pid)).toBe(true)
    await claude.answer(request, { kind: 'allow' })
    await claude.answer(await claude.waitForRequest('toolu_2'), { kind: 'allow' })
    await clock.advance(300_000)
    expect(isAlive(pid)).toBe(true)
    release()
    await claude.waitForTurnEnd(2)
    await advanceUntil(clock, claude.waitUntilParked(id))
    expect(isAlive(pid)).toBe(false)
  })

  it('is not cut off where the process was brought back for the turn before, and was to go with it', async () => {
    const waiting = toolUse(
      'Bash',
      { command: 'while [ ! -e go.txt ]; do sleep 0.05; done', description: 'beside', run_in_background: true },
      'toolu_beside',
    )
    const script: ModelScript = call => {
      if (!has(call, 'toolu_1')) return [echo]
      if (!has(call, 'toolu_beside')) return [waiting]
      return [say(notified(call) ? 'own over' : 'idle now')]
    }
    const { id, request } = await asked(script, { parkAfterMs: 0 })
    await claude.waitUntilParked(id)
    await claude.answer(request, { kind: 'allow' })
    await claude.waitForTurnEnd(1)
    const pid = claude.pidOf(id)
    release()
    await claude.waitForTurnEnd(2)
    expect(claude.agentTexts()).toEqual(['idle now', 'own over'])
    await waitUntil(() => !isAlive(pid))
  })

  it('can be interrupted while it works', async () => {
    claude = await ClaudeFixture.create(thenByItself([untilReleased('echo ran >> ran.txt')]))
    const id = await claude.startClaude({ mode: 'bypassPermissions' })
    await claude.waitForEvent('tool.started', event => event.block === 'toolu_1')
    await reached('working')
    await claude.asPerson('interruptSession', { id })
    expect((await claude.waitForTurnEnd(2)).ending).toBe('interrupted')
    await claude.waitFor(() => claude.eventsOf('command.done')[1])
    release()
    await claude.asPerson('sendMessage', { id, text: 'still there?' })
    expect((await claude.waitForTurnEnd(3)).ending).toBe('done')
    expect(claude.readFile('ran.txt')).toBeNull()
  })

  it('can be interrupted while it waits, and while it is parked', async () => {
    const { id } = await asked(thenByItself([echo]))
    await claude.asPerson('interruptSession', { id })
    expect((await claude.waitForTurnEnd(2)).ending).toBe('interrupted')
    expect((await claude.getRequest()).resolution).toMatchObject({ by: 'agent', reason: 'interrupted' })
    await claude.close()
    const parked = await asked(thenByItself([echo]), { parkAfterMs: 0 })
    await claude.waitUntilParked(parked.id)
    await claude.asPerson('interruptSession', { id: parked.id })
    expect((await claude.waitForTurnEnd(2)).ending).toBe('interrupted')
    await reached('idle')
    expect(claude.readFile('ran.txt')).toBeNull()
  })

  it('does not end the turn of a message that was sent meanwhile', async () => {
    let goOn = () => {}
    const held = new Promise<void>(resolve => {
      goOn = resolve
    })
    const own = thenByItself()
    const script: ModelScript = async call => {
      if (call.prompt === 'mine') return has(call, 'toolu_1') ? [say('mine over')] : [echo]
      if (notified(call)) await held
      return own(call)
    }
    claude = await ClaudeFixture.create(script)
    const id = await claude.startClaude({ mode: 'bypassPermissions' })
    await claude.waitForTurnEnd(1)
    await reached('working')
    const { id: command } = await claude.asPerson('sendMessage', { id, text: 'mine' })
    goOn()
    const done = await claude.waitForEvent('command.done', event => event.command === command)
    expect(done.outcome.ok).toBe(true)
    expect(claude.readFile('ran.txt')).toBe('ran\n')
    expect(claude.agentTexts()).toEqual(['idle now', 'own over', 'mine over'])
    const types = claude.events.filter(event => event.type === 'turn.finished' || event === done)
    expect(types.at(-1)).toBe(done)
    await reached('idle')
  })

  describe('at the moment that a message is on its way to it', () => {
    /** Between the two the message is in nobody's hands. */
    const lateWords = `while IFS= read -r line; do case "$line" in *'late words'*) sleep 1;; esac; printf '%s\\n' "$line"; done | "$claude" "$@"`
    async function cross() {
      let goOn = () => {}
      const held = new Promise<void>(resolve => {
        goOn = resolve
      })
      let began = false
      const own = thenByItself()
      const script: ModelScript = async call => {
        if (call.prompt === 'late words') return has(call, 'toolu_1') ? [say('mine over')] : [echo]
        if (notified(call)) {
          began = true
          await held
        }
        return own(call)
      }
      claude = await ClaudeFixture.create(script, { executable: wrapClaude(lateWords) })
      const id = await claude.startClaude({ mode: 'bypassPermissions' })
      await claude.waitFor(() => claude.eventsOf('command.done')[0])
      const { id: command } = await claude.asPerson('sendMessage', { id, text: 'late words' })
      await claude.waitForEvent('command.taken', event => event.command === command)
      await waitUntil(() => began)
      const done = claude.waitForEvent('command.done', event => event.command === command)
      return { id, goOn, done }
    }

    it('is not taken for the turn of that message', async () => {
      const { goOn, done } = await cross()
      // Until the message has got there.
      await new Promise(resolve => setTimeout(resolve, 1200))
      goOn()
      expect((await done).outcome.ok).toBe(true)
      expect(claude.agentTexts()).toEqual(['idle now', 'own over', 'mine over'])
      expect(claude.readFile('ran.txt')).toBe('ran\n')
    })

    it('takes the message with it when it is interrupted', async () => {
      const { id, goOn, done } = await cross()
      await claude.asPerson('interruptSession', { id })
      await done
      goOn()
      expect(claude.eventsOf('turn.finished').at(-1)?.ending).toBe('interrupted')
      await claude.asPerson('sendMessage', { id, text: 'still there?' })
      await claude.waitFor(() => claude.eventsOf('command.done')[3])
      expect(claude.readFile('ran.txt')).toBeNull()
      expect(claude.agentTexts()).not.toContain('mine over')
    })
  })

  it('is parked by a runner that is told to stop, without a word, and goes on with the next', async () => {
    claude = await ClaudeFixture.create(thenByItself([echo]), { knownParkable: true })
    const runner = claude.startRunner()
    const id = await claude.startSession('claude', { cwd: claude.cwd, parkAfterMs: null })
    const request = await claude.waitForRequest()
    await claude.waitForTranscript(id)
    await runner.stop()
    await claude.waitUntilParked(id)
    expect(claude.eventsOf('error.raised')).toEqual([])
    claude.startRunner()
    await claude.answer(request, { kind: 'allow' })
    expect((await claude.waitForTurnEnd(2)).ending).toBe('done')
    expect(claude.readFile('ran.txt')).toBe('ran\n')
  })
})

describe('an agent in the background that asks while the main one is idle', () => {
  it('makes the session work until it has its answer', async () => {
    const { id, request } = await asked(delegating)
    await claude.waitForTurnEnd(1)
    expect(await stateOf(id)).toBe('working')
    expect(request.agentPath).toEqual(['helper'])
    await claude.answer(request, { kind: 'allow' })
    await claude.waitForEvent('message.added', event => event.text === 'helped')
    await reached('idle')
    expect(claude.readFile('ran.txt')).toBe('ran\n')
    expect((await claude.getRequest()).delivery.state).toBe('taken')
  })

  it('keeps no message waiting, and is not over with the turn of that message', async () => {
    const { id, request } = await asked(delegating)
    await claude.waitForTurnEnd(1)
    await claude.asPerson('sendMessage', { id, text: 'are you there?' })
    await claude.waitForEvent('message.added', event => event.text === 'heard are you there?')
    await claude.waitFor(() => claude.eventsOf('command.done')[1])
    expect((await claude.getRequest()).status).toBe('pending')
    expect(await stateOf(id)).toBe('working')
    await claude.answer(request, { kind: 'allow' })
    await claude.waitForEvent('request.taken')
    expect(claude.readFile('ran.txt')).toBe('ran\n')
    await reached('idle')
  })

  it('and is killed with the process: the answer that comes later is told to the agent, and holds for the same call', async () => {
    const script: ModelScript = call => {
      if (call.prompt === 'help' || !call.conversation.includes('This is what was decided')) return delegating(call)
      return has(call, 'toolu_again') ? [say('I see')] : [bash('echo ran >> ran.txt', 'toolu_again')]
    }
    const { id, request } = await asked(script)
    await claude.waitForTurnEnd(1)
    await claude.waitForTranscript(id, 'toolu_agent')
    kill(id)
    await claude.waitUntilParked(id)
    expect((await claude.getRequest()).status).toBe('pending')
    await claude.answer(request, { kind: 'allow' })
    await claude.waitForEvent('message.added', event => event.text === 'I see')
    await reached('idle')
    expect(claude.readFile('ran.txt')).toBe('ran\n')
    expect(claude.eventsOf('request.opened')).toHaveLength(1)
    expect((await claude.getRequest()).delivery.state).toBe('taken')
  })

  it('and is killed while its allowed call runs: the outcome is unknown, and the agent is told', async () => {
    const script: ModelScript = call => {
      if (call.prompt === 'help') return [bash('echo ran >> ran.txt; sleep 60')]
      return call.conversation.includes('This is what was decided') ? [say('I see')] : delegating(call)
    }
    const { id, request } = await asked(script)
    await claude.waitForTurnEnd(1)
    await claude.waitForTranscript(id, 'toolu_agent')
    await claude.answer(request, { kind: 'allow' })
    await waitUntil(() => claude.readFile('ran.txt') !== null)
    kill(id)
    await claude.waitForEvent('message.added', event => event.text === 'I see')
    expect(claude.model.hasRead('its outcome is unknown')).toBe(true)
    expect(claude.readFile('ran.txt')).toBe('ran\n')
    expect((await claude.getRequest()).delivery.state).toBe('unknown')
  })

  it('can be interrupted', async () => {
    const { id } = await asked(delegating)
    await claude.waitForTurnEnd(1)
    await claude.asPerson('interruptSession', { id })
    expect((await claude.waitForTurnEnd(2)).ending).toBe('interrupted')
    await reached('idle')
    expect(claude.readFile('ran.txt')).toBeNull()
  })
})

describe('a process that is lost while nobody waits for it', () => {
  it('is told of with what went on in the background, and the next message starts another', async () => {
    const long = toolUse('Bash', { command: 'sleep 60', description: 'long', run_in_background: true }, 'toolu_beside')
    claude = await ClaudeFixture.create(call => (has(call, 'toolu_beside') ? [say(`heard ${call.prompt}`)] : [long]))
    const id = await claude.startClaude()
    await claude.waitForTurnEnd(1)
    kill(id)
    expect((await claude.waitForEvent('error.raised')).message).toContain('in the background')
    await claude.asPerson('sendMessage', { id, text: 'again' })
    expect((await claude.waitForTurnEnd(2)).ending).toBe('done')
    expect(claude.agentTexts().at(-1)).toBe('heard again')
  })
})
