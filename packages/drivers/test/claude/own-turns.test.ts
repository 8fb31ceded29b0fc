/** Turns that Claude Code begins by itself: when a command or an agent in the background has ended it calls its model, and an agent in the background asks while the main one is idle. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SessionId } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { ManualClock } from '../runner-fixture.ts'
import { alive, ClaudeFixture, claudeBehind, eventually, type HouseOptions, pass } from './claude-fixture.ts'
import { bash, call, type Play, type Scene, say } from './model.ts'

let house: ClaudeFixture
afterEach(() => house.close())

const echo = bash('echo ran >> ran.txt')
const beside = call('Bash', { command: 'sleep 0.2', description: 'beside', run_in_background: true }, 'toolu_beside')
const helper = { description: 'helper', prompt: 'help', subagent_type: 'general-purpose', run_in_background: true }

const notified = ({ all }: Scene) => all.includes('<task-notification>')
const has = ({ results }: Scene, id: string) => results.some(result => result.id === id)

/** Leaves something running and is idle; when it has ended, does this by itself. */
const thenByItself =
  (...own: readonly Awaited<ReturnType<Play>>[]): Play =>
  scene => {
    if (!has(scene, 'toolu_beside')) return [beside]
    return notified(scene) ? (own[scene.results.length - 1] ?? [say('own over')]) : [say('idle now')]
  }
/** Leaves an agent running and is idle; that agent asks. */
const delegating: Play = ({ prompt, results, all }) => {
  if (prompt === 'help') return results.length === 0 ? [echo] : [say('helped')]
  return all.includes('toolu_agent') ? [say(`heard ${prompt}`)] : [call('Agent', helper, 'toolu_agent')]
}

const stateOf = async (id: SessionId) => (await house.stage.person('getSession', { id })).state
const reached = (state: string) => house.stage.until(() => states().at(-1) === state || undefined)
const states = () => house.stage.log('session.changed').map(event => event.value.state)
const kill = (id: SessionId) => process.kill(house.pid(id) ?? Number.NaN, 'SIGKILL')
const release = () => writeFileSync(join(house.cwd, 'go.txt'), '')
const untilReleased = (then: string, id?: string) => bash(`while [ ! -e go.txt ]; do sleep 0.05; done; ${then}`, id)

async function asked(play: Play, more: Parameters<ClaudeFixture['start']>[0] = {}, options: HouseOptions = {}) {
  house = await ClaudeFixture.open(play, { parks: true, ...options })
  const id = await house.start(more)
  const request = await house.asked()
  return { id, request }
}

describe('a turn that Claude Code begins by itself', () => {
  it('is one: it works, asks, is answered, and finishes with what it used', async () => {
    const { id, request } = await asked(thenByItself([echo]))
    await house.over(1)
    expect(await stateOf(id)).toBe('working')
    await house.stage.answer(request, { kind: 'allow' })
    expect(await house.over(2)).toMatchObject({ ending: 'done', usage: expect.anything() })
    await reached('idle')
    expect(house.file('ran.txt')).toBe('ran\n')
    expect(house.stage.texts()).toEqual(['idle now', 'own over'])
    expect((await house.request()).delivery.state).toBe('taken')
    expect(house.stage.log('command.done')).toHaveLength(1)
  })

  it('parks while it waits, and the answer brings it back', async () => {
    const { id, request } = await asked(thenByItself([echo]), { parkAfterMs: 0 })
    await house.parked(id)
    expect(house.pid(id)).toBeNull()
    await house.stage.answer(request, { kind: 'allow' })
    expect((await house.over(2)).ending).toBe('done')
    expect(house.file('ran.txt')).toBe('ran\n')
    expect(house.stage.log('request.opened')).toHaveLength(1)
    expect((await house.request()).delivery.state).toBe('taken')
    await house.stage.person('sendMessage', { id, text: 'and now?' })
    expect((await house.over(3)).ending).toBe('done')
  })

  it('goes on after its process was killed while it waited', async () => {
    const { id, request } = await asked(thenByItself([echo]))
    await house.onRecord(id)
    kill(id)
    await house.parked(id)
    expect((await house.request()).status).toBe('pending')
    await house.stage.answer(request, { kind: 'allow' })
    expect((await house.over(2)).ending).toBe('done')
    expect(house.file('ran.txt')).toBe('ran\n')
    expect((await house.request()).delivery.state).toBe('taken')
  })

  it('goes on with the next runner after the first was lost while it waited', async () => {
    house = await ClaudeFixture.open(thenByItself([echo]), { parks: true })
    const runner = house.run()
    const id = await house.stage.start('claude', { cwd: house.cwd, parkAfterMs: null })
    const request = await house.asked()
    await house.onRecord(id)
    const pid = house.pid(id)
    runner.kill()
    await eventually(() => !alive(pid))
    house.run()
    await house.parked(id)
    await house.stage.answer(request, { kind: 'allow' })
    expect((await house.over(2)).ending).toBe('done')
    expect(house.file('ran.txt')).toBe('ran\n')
    expect((await house.request()).delivery.state).toBe('taken')
  })

  it('that was lost while an allowed call ran is told that its outcome is unknown, and does not run it twice', async () => {
    const { id, request } = await asked(thenByItself([bash('echo ran >> ran.txt; sleep 60')]))
    await house.onRecord(id)
    await house.stage.answer(request, { kind: 'allow' })
    await eventually(() => house.file('ran.txt') !== null)
    kill(id)
    await house.over(2)
    expect(house.file('ran.txt')).toBe('ran\n')
    expect(house.model.told()).toContain('its outcome is unknown')
    expect((await house.request()).delivery.state).toBe('unknown')
  })

  it('that was lost in the middle of its work has failed, with a sentence', async () => {
    house = await ClaudeFixture.open(thenByItself([untilReleased('true')]), { parks: true })
    const id = await house.start({ mode: 'bypassPermissions' })
    await house.stage.seen('tool.started', event => event.block === 'toolu_1')
    await reached('working')
    kill(id)
    expect((await house.over(2)).ending).toBe('failed')
    expect((await house.stage.seen('error.raised')).message).toContain('SIGKILL')
    await reached('idle')
  })

  it('is not idle: it is not parked as idle while it waits or works', async () => {
    const clock = new ManualClock()
    const { id, request } = await asked(
      thenByItself([echo], [untilReleased('echo over >> ran.txt', 'toolu_2')]),
      {},
      { clock, idleParkMs: 60_000 },
    )
    const pid = house.pid(id)
    await clock.advance(300_000)
    expect(alive(pid)).toBe(true)
    await house.stage.answer(request, { kind: 'allow' })
    await house.stage.answer(await house.asked('toolu_2'), { kind: 'allow' })
    await clock.advance(300_000)
    expect(alive(pid)).toBe(true)
    release()
    await house.over(2)
    await pass(clock, house.parked(id))
    expect(alive(pid)).toBe(false)
  })

  it('is not cut off where the process was brought back for the turn before, and was to go with it', async () => {
    const waiting = call(
      'Bash',
      { command: 'while [ ! -e go.txt ]; do sleep 0.05; done', description: 'beside', run_in_background: true },
      'toolu_beside',
    )
    const play: Play = scene => {
      if (!has(scene, 'toolu_1')) return [echo]
      if (!has(scene, 'toolu_beside')) return [waiting]
      return [say(notified(scene) ? 'own over' : 'idle now')]
    }
    const { id, request } = await asked(play, { parkAfterMs: 0 })
    await house.parked(id)
    await house.stage.answer(request, { kind: 'allow' })
    await house.over(1)
    const pid = house.pid(id)
    release()
    await house.over(2)
    expect(house.stage.texts()).toEqual(['idle now', 'own over'])
    await eventually(() => !alive(pid))
  })

  it('can be interrupted while it works', async () => {
    house = await ClaudeFixture.open(thenByItself([untilReleased('echo ran >> ran.txt')]))
    const id = await house.start({ mode: 'bypassPermissions' })
    await house.stage.seen('tool.started', event => event.block === 'toolu_1')
    await reached('working')
    await house.stage.person('interruptSession', { id })
    expect((await house.over(2)).ending).toBe('interrupted')
    await house.stage.until(() => house.stage.log('command.done')[1])
    release()
    await house.stage.person('sendMessage', { id, text: 'still there?' })
    expect((await house.over(3)).ending).toBe('done')
    expect(house.file('ran.txt')).toBeNull()
  })

  it('can be interrupted while it waits, and while it is parked', async () => {
    const { id } = await asked(thenByItself([echo]))
    await house.stage.person('interruptSession', { id })
    expect((await house.over(2)).ending).toBe('interrupted')
    expect((await house.request()).resolution).toMatchObject({ by: 'agent', reason: 'interrupted' })
    await house.close()
    const parked = await asked(thenByItself([echo]), { parkAfterMs: 0 })
    await house.parked(parked.id)
    await house.stage.person('interruptSession', { id: parked.id })
    expect((await house.over(2)).ending).toBe('interrupted')
    await reached('idle')
    expect(house.file('ran.txt')).toBeNull()
  })

  it('does not end the turn of a message that was sent meanwhile', async () => {
    let goOn = () => {}
    const held = new Promise<void>(resolve => {
      goOn = resolve
    })
    const own = thenByItself()
    const play: Play = async scene => {
      if (scene.prompt === 'mine') return has(scene, 'toolu_1') ? [say('mine over')] : [echo]
      if (notified(scene)) await held
      return own(scene)
    }
    house = await ClaudeFixture.open(play)
    const id = await house.start({ mode: 'bypassPermissions' })
    await house.over(1)
    await reached('working')
    const { id: command } = await house.stage.person('sendMessage', { id, text: 'mine' })
    goOn()
    const done = await house.stage.seen('command.done', event => event.command === command)
    expect(done.outcome.ok).toBe(true)
    expect(house.file('ran.txt')).toBe('ran\n')
    expect(house.stage.texts()).toEqual(['idle now', 'own over', 'mine over'])
    const types = house.stage.events.filter(event => event.type === 'turn.finished' || event === done)
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
      const play: Play = async scene => {
        if (scene.prompt === 'late words') return has(scene, 'toolu_1') ? [say('mine over')] : [echo]
        if (notified(scene)) {
          began = true
          await held
        }
        return own(scene)
      }
      house = await ClaudeFixture.open(play, { executable: claudeBehind(lateWords) })
      const id = await house.start({ mode: 'bypassPermissions' })
      await house.stage.until(() => house.stage.log('command.done')[0])
      const { id: command } = await house.stage.person('sendMessage', { id, text: 'late words' })
      await house.stage.seen('command.taken', event => event.command === command)
      await eventually(() => began)
      const done = house.stage.seen('command.done', event => event.command === command)
      return { id, goOn, done }
    }

    it('is not taken for the turn of that message', async () => {
      const { goOn, done } = await cross()
      // Until the message has got there.
      await new Promise(resolve => setTimeout(resolve, 1200))
      goOn()
      expect((await done).outcome.ok).toBe(true)
      expect(house.stage.texts()).toEqual(['idle now', 'own over', 'mine over'])
      expect(house.file('ran.txt')).toBe('ran\n')
    })

    it('takes the message with it when it is interrupted', async () => {
      const { id, goOn, done } = await cross()
      await house.stage.person('interruptSession', { id })
      await done
      goOn()
      expect(house.stage.log('turn.finished').at(-1)?.ending).toBe('interrupted')
      await house.stage.person('sendMessage', { id, text: 'still there?' })
      await house.stage.until(() => house.stage.log('command.done')[3])
      expect(house.file('ran.txt')).toBeNull()
      expect(house.stage.texts()).not.toContain('mine over')
    })
  })

  it('is parked by a runner that is told to stop, without a word, and goes on with the next', async () => {
    house = await ClaudeFixture.open(thenByItself([echo]), { parks: true })
    const runner = house.run()
    const id = await house.stage.start('claude', { cwd: house.cwd, parkAfterMs: null })
    const request = await house.asked()
    await house.onRecord(id)
    await runner.stop()
    await house.parked(id)
    expect(house.stage.log('error.raised')).toEqual([])
    house.run()
    await house.stage.answer(request, { kind: 'allow' })
    expect((await house.over(2)).ending).toBe('done')
    expect(house.file('ran.txt')).toBe('ran\n')
  })
})

describe('an agent in the background that asks while the main one is idle', () => {
  it('makes the session work until it has its answer', async () => {
    const { id, request } = await asked(delegating)
    await house.over(1)
    expect(await stateOf(id)).toBe('working')
    expect(request.agentPath).toEqual(['helper'])
    await house.stage.answer(request, { kind: 'allow' })
    await house.stage.seen('message.added', event => event.text === 'helped')
    await reached('idle')
    expect(house.file('ran.txt')).toBe('ran\n')
    expect((await house.request()).delivery.state).toBe('taken')
  })

  it('keeps no message waiting, and is not over with the turn of that message', async () => {
    const { id, request } = await asked(delegating)
    await house.over(1)
    await house.stage.person('sendMessage', { id, text: 'are you there?' })
    await house.stage.seen('message.added', event => event.text === 'heard are you there?')
    await house.stage.until(() => house.stage.log('command.done')[1])
    expect((await house.request()).status).toBe('pending')
    expect(await stateOf(id)).toBe('working')
    await house.stage.answer(request, { kind: 'allow' })
    await house.stage.seen('request.taken')
    expect(house.file('ran.txt')).toBe('ran\n')
    await reached('idle')
  })

  it('and is killed with the process: the answer that comes later is told to the agent, and holds for the same call', async () => {
    const play: Play = scene => {
      if (scene.prompt === 'help' || !scene.all.includes('This is what was decided')) return delegating(scene)
      return has(scene, 'toolu_again') ? [say('I see')] : [bash('echo ran >> ran.txt', 'toolu_again')]
    }
    const { id, request } = await asked(play)
    await house.over(1)
    await house.onRecord(id, 'toolu_agent')
    kill(id)
    await house.parked(id)
    expect((await house.request()).status).toBe('pending')
    await house.stage.answer(request, { kind: 'allow' })
    await house.stage.seen('message.added', event => event.text === 'I see')
    await reached('idle')
    expect(house.file('ran.txt')).toBe('ran\n')
    expect(house.stage.log('request.opened')).toHaveLength(1)
    expect((await house.request()).delivery.state).toBe('taken')
  })

  it('and is killed while its allowed call runs: the outcome is unknown, and the agent is told', async () => {
    const play: Play = scene => {
      if (scene.prompt === 'help') return [bash('echo ran >> ran.txt; sleep 60')]
      return scene.all.includes('This is what was decided') ? [say('I see')] : delegating(scene)
    }
    const { id, request } = await asked(play)
    await house.over(1)
    await house.onRecord(id, 'toolu_agent')
    await house.stage.answer(request, { kind: 'allow' })
    await eventually(() => house.file('ran.txt') !== null)
    kill(id)
    await house.stage.seen('message.added', event => event.text === 'I see')
    expect(house.model.read('its outcome is unknown')).toBe(true)
    expect(house.file('ran.txt')).toBe('ran\n')
    expect((await house.request()).delivery.state).toBe('unknown')
  })

  it('can be interrupted', async () => {
    const { id } = await asked(delegating)
    await house.over(1)
    await house.stage.person('interruptSession', { id })
    expect((await house.over(2)).ending).toBe('interrupted')
    await reached('idle')
    expect(house.file('ran.txt')).toBeNull()
  })
})

describe('a process that is lost while nobody waits for it', () => {
  it('is told of with what went on in the background, and the next message starts another', async () => {
    const long = call('Bash', { command: 'sleep 60', description: 'long', run_in_background: true }, 'toolu_beside')
    house = await ClaudeFixture.open(scene => (has(scene, 'toolu_beside') ? [say(`heard ${scene.prompt}`)] : [long]))
    const id = await house.start()
    await house.over(1)
    kill(id)
    expect((await house.stage.seen('error.raised')).message).toContain('in the background')
    await house.stage.person('sendMessage', { id, text: 'again' })
    expect((await house.over(2)).ending).toBe('done')
    expect(house.stage.texts().at(-1)).toBe('heard again')
  })
})
