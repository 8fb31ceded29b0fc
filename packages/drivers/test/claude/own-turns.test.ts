/** Tests turns that Claude Code starts by itself after a background command or subagent has ended, and requests of background subagents while the main agent is idle. */
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
/** A command that runs until the first turn has ended. If it ended earlier, Claude Code would report its end within that turn and start no turn by itself. */
const shortTask = toolUse(
  'Bash',
  { command: 'while [ ! -e idle.txt ]; do sleep 0.05; done', description: 'short', run_in_background: true },
  'toolu_background',
)
/** A command that runs until `release` is called. */
const waitingTask = toolUse(
  'Bash',
  { command: 'while [ ! -e go.txt ]; do sleep 0.05; done', description: 'waiting', run_in_background: true },
  'toolu_background',
)
const helper = { description: 'helper', prompt: 'help', subagent_type: 'general-purpose', run_in_background: true }

const taskHasEnded = ({ conversation }: ModelCall) => conversation.includes('<task-notification>')
const hasResult = ({ results }: ModelCall, id: string) => results.some(result => result.id === id)

/** A model script that starts a background task and ends the turn. After the task has ended, Claude Code starts a turn by itself, in which the model replies with these steps. */
const ownTurnWith =
  (...ownSteps: readonly Awaited<ReturnType<ModelScript>>[]): ModelScript =>
  call => {
    if (!hasResult(call, 'toolu_background')) return [shortTask]
    return taskHasEnded(call) ? (ownSteps[call.results.length - 1] ?? [say('own turn finished')]) : [say('idle')]
  }
/** A model script that starts a background subagent and ends the turn. The subagent makes a tool call that needs approval. */
const delegating: ModelScript = ({ prompt, results, conversation }) => {
  if (prompt === 'help') return results.length === 0 ? [echo] : [say('helped')]
  return conversation.includes('toolu_agent') ? [say(`heard ${prompt}`)] : [toolUse('Agent', helper, 'toolu_agent')]
}

const stateOf = async (id: SessionId) => (await claude.asPerson('getSession', { id })).state
const waitForState = (state: string) => claude.waitFor(() => states().at(-1) === state || undefined)
const states = () => claude.eventsOf('session.changed').map(event => event.value.state)
const kill = (id: SessionId) => process.kill(claude.pidOf(id) ?? Number.NaN, 'SIGKILL')
const release = () => writeFileSync(join(claude.cwd, 'go.txt'), '')
const untilReleased = (then: string, id?: string) => bash(`while [ ! -e go.txt ]; do sleep 0.05; done; ${then}`, id)

/** Creates the fixture, and lets `shortTask` end when the first turn has ended. */
async function openFixture(script: ModelScript, options: ClaudeFixtureOptions = {}): Promise<ClaudeFixture> {
  const fixture = await ClaudeFixture.create(script, options)
  void fixture.waitForTurnEnd(1).then(() => writeFileSync(join(fixture.cwd, 'idle.txt'), ''))
  return fixture
}
async function openRequest(
  script: ModelScript,
  more: Parameters<ClaudeFixture['startClaude']>[0] = {},
  options: ClaudeFixtureOptions = {},
) {
  claude = await openFixture(script, { knownParkable: true, ...options })
  const id = await claude.startClaude(more)
  const request = await claude.waitForRequest()
  return { id, request }
}

describe('a turn that Claude Code starts by itself', () => {
  it('a turn that Claude Code starts by itself can ask, gets the answer, and ends with a report of its usage', async () => {
    const { id, request } = await openRequest(ownTurnWith([echo]))
    await claude.waitForTurnEnd(1)
    expect(await stateOf(id)).toBe('working')
    await claude.answer(request, { kind: 'allow' })
    expect(await claude.waitForTurnEnd(2)).toMatchObject({ ending: 'done', usage: expect.anything() })
    await waitForState('idle')
    expect(claude.readFile('ran.txt')).toBe('ran\n')
    expect(claude.agentTexts()).toEqual(['idle', 'own turn finished'])
    expect((await claude.getRequest()).delivery.state).toBe('taken')
    expect(claude.eventsOf('command.done')).toHaveLength(1)
  })

  it('a turn that Claude Code starts by itself is parked while it waits for an answer, and the answer resumes it', async () => {
    const { id, request } = await openRequest(ownTurnWith([echo]), { parkAfterMs: 0 })
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

  it('a turn that Claude Code starts by itself resumes after its process was killed while it waited for an answer', async () => {
    const { id, request } = await openRequest(ownTurnWith([echo]))
    await claude.waitForTranscript(id)
    kill(id)
    await claude.waitUntilParked(id)
    expect((await claude.getRequest()).status).toBe('pending')
    await claude.answer(request, { kind: 'allow' })
    expect((await claude.waitForTurnEnd(2)).ending).toBe('done')
    expect(claude.readFile('ran.txt')).toBe('ran\n')
    expect((await claude.getRequest()).delivery.state).toBe('taken')
  })

  it('a turn that Claude Code starts by itself resumes with the next runner after the first runner was lost while the turn waited for an answer', async () => {
    claude = await openFixture(ownTurnWith([echo]), { knownParkable: true })
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

  it('a turn that Claude Code starts by itself does not run an allowed call twice if its process was lost while the call ran, and the model is told that the outcome is unknown', async () => {
    const { id, request } = await openRequest(ownTurnWith([bash('echo ran >> ran.txt; sleep 60')]))
    await claude.waitForTranscript(id)
    await claude.answer(request, { kind: 'allow' })
    await waitUntil(() => claude.readFile('ran.txt') !== null)
    kill(id)
    await claude.waitForTurnEnd(2)
    expect(claude.readFile('ran.txt')).toBe('ran\n')
    expect(claude.model.toolResult()).toContain('its outcome is unknown')
    expect((await claude.getRequest()).delivery.state).toBe('unknown')
  })

  it('a turn that Claude Code starts by itself fails with an error message if its process is lost while it works', async () => {
    claude = await openFixture(ownTurnWith([untilReleased('true')]), { knownParkable: true })
    const id = await claude.startClaude({ mode: 'bypassPermissions' })
    await claude.waitForEvent('tool.started', event => event.block === 'toolu_1')
    await waitForState('working')
    kill(id)
    expect((await claude.waitForTurnEnd(2)).ending).toBe('failed')
    expect((await claude.waitForEvent('error.raised')).message).toContain('SIGKILL')
    await waitForState('idle')
  })

  it('a turn that Claude Code starts by itself is not parked as idle while it waits or works', async () => {
    const clock = new ManualClock()
    const { id, request } = await openRequest(
      ownTurnWith([echo], [untilReleased('echo over >> ran.txt', 'toolu_2')]),
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

  it('a turn that Claude Code starts by itself runs to its end even if its process was resumed only for the previous turn', async () => {
    const script: ModelScript = call => {
      if (!hasResult(call, 'toolu_1')) return [echo]
      if (!hasResult(call, 'toolu_background')) return [waitingTask]
      return [say(taskHasEnded(call) ? 'own turn finished' : 'idle')]
    }
    const { id, request } = await openRequest(script, { parkAfterMs: 0 })
    await claude.waitUntilParked(id)
    await claude.answer(request, { kind: 'allow' })
    await claude.waitForTurnEnd(1)
    const pid = claude.pidOf(id)
    release()
    await claude.waitForTurnEnd(2)
    expect(claude.agentTexts()).toEqual(['idle', 'own turn finished'])
    await waitUntil(() => !isAlive(pid))
  })

  it('a turn that Claude Code starts by itself can be interrupted while it works', async () => {
    claude = await openFixture(ownTurnWith([untilReleased('echo ran >> ran.txt')]))
    const id = await claude.startClaude({ mode: 'bypassPermissions' })
    await claude.waitForEvent('tool.started', event => event.block === 'toolu_1')
    await waitForState('working')
    await claude.asPerson('interruptSession', { id })
    expect((await claude.waitForTurnEnd(2)).ending).toBe('interrupted')
    await claude.waitFor(() => claude.eventsOf('command.done')[1])
    release()
    await claude.asPerson('sendMessage', { id, text: 'still there?' })
    expect((await claude.waitForTurnEnd(3)).ending).toBe('done')
    expect(claude.readFile('ran.txt')).toBeNull()
  })

  it('a turn that Claude Code starts by itself can be interrupted while it waits for an answer and while it is parked', async () => {
    const { id } = await openRequest(ownTurnWith([echo]))
    await claude.asPerson('interruptSession', { id })
    expect((await claude.waitForTurnEnd(2)).ending).toBe('interrupted')
    expect((await claude.getRequest()).resolution).toMatchObject({ by: 'agent', reason: 'interrupted' })
    await claude.close()
    const parked = await openRequest(ownTurnWith([echo]), { parkAfterMs: 0 })
    await claude.waitUntilParked(parked.id)
    await claude.asPerson('interruptSession', { id: parked.id })
    expect((await claude.waitForTurnEnd(2)).ending).toBe('interrupted')
    await waitForState('idle')
    expect(claude.readFile('ran.txt')).toBeNull()
  })

  it('a turn that Claude Code starts by itself does not end the turn of a message that was sent while it ran', async () => {
    let replyNow = () => {}
    const held = new Promise<void>(resolve => {
      replyNow = resolve
    })
    const ownTurn = ownTurnWith()
    const script: ModelScript = async call => {
      if (call.prompt === 'message') return hasResult(call, 'toolu_1') ? [say('message finished')] : [echo]
      if (taskHasEnded(call)) await held
      return ownTurn(call)
    }
    claude = await openFixture(script)
    const id = await claude.startClaude({ mode: 'bypassPermissions' })
    await claude.waitForTurnEnd(1)
    await waitForState('working')
    const { id: command } = await claude.asPerson('sendMessage', { id, text: 'message' })
    replyNow()
    const done = await claude.waitForEvent('command.done', event => event.command === command)
    expect(done.outcome.ok).toBe(true)
    expect(claude.readFile('ran.txt')).toBe('ran\n')
    expect(claude.agentTexts()).toEqual(['idle', 'own turn finished', 'message finished'])
    const types = claude.events.filter(event => event.type === 'turn.finished' || event === done)
    expect(types.at(-1)).toBe(done)
    await waitForState('idle')
  })

  describe('while a message is on its way to Claude Code', () => {
    /** Delays the message on its way to the CLI until deliver.txt exists. */
    const holdMessage = `while IFS= read -r line; do case "$line" in *'late message'*) while [ ! -e deliver.txt ]; do sleep 0.05; done;; esac; printf '%s\\n' "$line"; done | "$claude" "$@"`
    async function startOwnTurnBeforeMessage(wrapper = holdMessage) {
      let replyNow = () => {}
      const held = new Promise<void>(resolve => {
        replyNow = resolve
      })
      let ownTurnStarted = false
      const script: ModelScript = async call => {
        if (call.prompt === 'late message') return hasResult(call, 'toolu_1') ? [say('message finished')] : [echo]
        if (!hasResult(call, 'toolu_background')) return [waitingTask]
        if (!taskHasEnded(call)) return [say('idle')]
        ownTurnStarted = true
        await held
        return [say('own turn finished')]
      }
      claude = await openFixture(script, { executable: wrapClaude(wrapper) })
      const id = await claude.startClaude({ mode: 'bypassPermissions' })
      await claude.waitFor(() => claude.eventsOf('command.done')[0])
      const { id: command } = await claude.asPerson('sendMessage', { id, text: 'late message' })
      await claude.waitForEvent('command.taken', event => event.command === command)
      release()
      await waitUntil(() => ownTurnStarted)
      writeFileSync(join(claude.cwd, 'deliver.txt'), '')
      const done = claude.waitForEvent('command.done', event => event.command === command)
      return { id, replyNow, done }
    }

    it('a turn that Claude Code starts by itself is not mistaken for the turn of a message that is on its way', async () => {
      const { replyNow, done } = await startOwnTurnBeforeMessage()
      // No event reports that the CLI has received the message, so wait for a fixed time.
      await new Promise(resolve => setTimeout(resolve, 1200))
      replyNow()
      expect((await done).outcome.ok).toBe(true)
      expect(claude.agentTexts()).toEqual(['idle', 'own turn finished', 'message finished'])
      expect(claude.readFile('ran.txt')).toBe('ran\n')
    })

    it('an interrupt stops a turn that Claude Code started by itself and the message that is on its way, even if the process ends slowly', async () => {
      const { id, replyNow, done } = await startOwnTurnBeforeMessage(`trap '' TERM; ${holdMessage}`)
      await claude.asPerson('interruptSession', { id })
      await done
      replyNow()
      expect(claude.eventsOf('turn.finished').at(-1)?.ending).toBe('interrupted')
      await claude.asPerson('sendMessage', { id, text: 'still there?' })
      await claude.waitFor(() => claude.eventsOf('command.done')[3])
      expect(claude.readFile('ran.txt')).toBeNull()
      expect(claude.agentTexts()).not.toContain('message finished')
    })
  })

  it('a turn that Claude Code starts by itself is parked without an error when its runner is stopped, and resumes with the next runner', async () => {
    claude = await openFixture(ownTurnWith([echo]), { knownParkable: true })
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

describe('when a background subagent of Claude Code asks while the main agent is idle', () => {
  it('a session whose main agent is idle counts as working until a background subagent of Claude Code has its answer', async () => {
    const { id, request } = await openRequest(delegating)
    await claude.waitForTurnEnd(1)
    expect(await stateOf(id)).toBe('working')
    expect(request.agentPath).toEqual(['helper'])
    await claude.answer(request, { kind: 'allow' })
    await claude.waitForEvent('message.added', event => event.text === 'helped')
    await waitForState('idle')
    expect(claude.readFile('ran.txt')).toBe('ran\n')
    expect((await claude.getRequest()).delivery.state).toBe('taken')
  })

  it('a message is processed while a background subagent of Claude Code waits, and its request stays pending afterwards', async () => {
    const { id, request } = await openRequest(delegating)
    await claude.waitForTurnEnd(1)
    await claude.asPerson('sendMessage', { id, text: 'are you there?' })
    await claude.waitForEvent('message.added', event => event.text === 'heard are you there?')
    await claude.waitFor(() => claude.eventsOf('command.done')[1])
    expect((await claude.getRequest()).status).toBe('pending')
    expect(await stateOf(id)).toBe('working')
    await claude.answer(request, { kind: 'allow' })
    await claude.waitForEvent('request.taken')
    expect(claude.readFile('ran.txt')).toBe('ran\n')
    await waitForState('idle')
  })

  it('Claude Code is told the answer to a request whose background subagent was killed, and the answer applies to an equal call', async () => {
    const script: ModelScript = call => {
      if (call.prompt === 'help' || !call.conversation.includes('This is what was decided')) return delegating(call)
      return hasResult(call, 'toolu_again') ? [say('I see')] : [bash('echo ran >> ran.txt', 'toolu_again')]
    }
    const { id, request } = await openRequest(script)
    await claude.waitForTurnEnd(1)
    await claude.waitForTranscript(id, 'toolu_agent')
    kill(id)
    await claude.waitUntilParked(id)
    expect((await claude.getRequest()).status).toBe('pending')
    await claude.answer(request, { kind: 'allow' })
    await claude.waitForEvent('message.added', event => event.text === 'I see')
    await waitForState('idle')
    expect(claude.readFile('ran.txt')).toBe('ran\n')
    expect(claude.eventsOf('request.opened')).toHaveLength(1)
    expect((await claude.getRequest()).delivery.state).toBe('taken')
  })

  it('Claude Code is told that the outcome is unknown if a background subagent is killed while its allowed call runs', async () => {
    const script: ModelScript = call => {
      if (call.prompt === 'help') return [bash('echo ran >> ran.txt; sleep 60')]
      return call.conversation.includes('This is what was decided') ? [say('I see')] : delegating(call)
    }
    const { id, request } = await openRequest(script)
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

  it('an interrupt stops a background subagent of Claude Code that waits', async () => {
    const { id } = await openRequest(delegating)
    await claude.waitForTurnEnd(1)
    await claude.asPerson('interruptSession', { id })
    expect((await claude.waitForTurnEnd(2)).ending).toBe('interrupted')
    await waitForState('idle')
    expect(claude.readFile('ran.txt')).toBeNull()
  })
})

describe('when the process of Claude Code is killed between turns', () => {
  it('if the process of Claude Code is killed between turns, the loss of background work is reported, and the next message starts another process', async () => {
    const long = toolUse(
      'Bash',
      { command: 'sleep 60', description: 'long', run_in_background: true },
      'toolu_background',
    )
    claude = await openFixture(call => (hasResult(call, 'toolu_background') ? [say(`heard ${call.prompt}`)] : [long]))
    const id = await claude.startClaude()
    await claude.waitForTurnEnd(1)
    kill(id)
    expect((await claude.waitForEvent('error.raised')).message).toContain('in the background')
    await claude.asPerson('sendMessage', { id, text: 'again' })
    expect((await claude.waitForTurnEnd(2)).ending).toBe('done')
    expect(claude.agentTexts().at(-1)).toBe('heard again')
  })
})
