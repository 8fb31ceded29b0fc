/** Tests the transition table of the session loop: that it is total, that docs/drivers.md shows it, and that random sequences of events keep its invariants. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  activeCalls,
  initialLoopState,
  isBusy,
  type LoopEffect,
  type LoopEvent,
  type LoopEventType,
  type LoopPhase,
  type LoopState,
  phaseOf,
} from '../src/session/loop-state.ts'
import { loopTable, transition } from '../src/session/loop-transitions.ts'

const ids = ['a', 'b']
const id = fc.constantFrom(...ids)
const origin = fc.constantFrom('main' as const, 'background' as const)
const events: { readonly [T in LoopEventType]: fc.Arbitrary<Extract<LoopEvent, { readonly type: T }>> } = {
  messageQueued: fc.constant({ type: 'messageQueued' }),
  turnLeftOpen: fc.constant({ type: 'turnLeftOpen' }),
  turnPrepared: fc.constant({ type: 'turnPrepared' }),
  turnRefused: fc.record({
    type: fc.constant('turnRefused'),
    how: fc.constantFrom('failed', 'interrupted', 'alreadyDone'),
  }),
  ready: fc.constant({ type: 'ready' }),
  turnStarted: fc.constant({ type: 'turnStarted' }),
  turnEnded: fc.record({ type: fc.constant('turnEnded'), isAwaited: fc.boolean() }),
  turnWritten: fc.constant({ type: 'turnWritten' }),
  turnClosed: fc.constant({ type: 'turnClosed' }),
  callOpened: fc.record({ type: fc.constant('callOpened'), id, origin }),
  requestOpened: fc.record({ type: fc.constant('requestOpened'), id }),
  callResolved: fc.record({ type: fc.constant('callResolved'), id }),
  callHanded: fc.record({ type: fc.constant('callHanded'), id }),
  callTaken: fc.record({ type: fc.constant('callTaken'), id }),
  callAborted: fc.record({ type: fc.constant('callAborted'), id }),
  callFailed: fc.record({ type: fc.constant('callFailed'), id }),
  endingChosen: fc.record({
    type: fc.constant('endingChosen'),
    ending: fc.constantFrom('cancelled', 'interrupted'),
    isStop: fc.boolean(),
  }),
  backgroundChanged: fc.record({ type: fc.constant('backgroundChanged'), tasks: fc.nat({ max: 2 }) }),
  parkingChanged: fc.constant({ type: 'parkingChanged' }),
  parkTimer: fc.constant({ type: 'parkTimer' }),
  processSpent: fc.record({ type: fc.constant('processSpent'), reason: fc.constantFrom('done', 'stopped') }),
  idleTimer: fc.constant({ type: 'idleTimer' }),
  interrupt: fc.constant({ type: 'interrupt' }),
  stopTimer: fc.constant({ type: 'stopTimer' }),
  modeChange: fc.constant({ type: 'modeChange' }),
  end: fc.constant({ type: 'end' }),
  runnerStop: fc.constant({ type: 'runnerStop' }),
  processExit: fc.record({ type: fc.constant('processExit'), isParked: fc.boolean() }),
}
const eventTypes = Object.keys(events) as LoopEventType[] // the keys of `events` are all types
const anyEvent: fc.Arbitrary<LoopEvent> = fc.oneof(...Object.values(events))
/** Events that release the session are rare, because little happens after them. Events that cut a turn or a call short are less likely than others. */
const weights: Readonly<Partial<Record<LoopEventType, number>>> = {
  ...{ idleTimer: 1, end: 1, runnerStop: 1, parkTimer: 2, processExit: 5 },
  ...{ interrupt: 5, stopTimer: 5, turnEnded: 5, turnRefused: 5, callAborted: 5, callFailed: 5, processSpent: 5 },
  ...{ callResolved: 60, callHanded: 60, turnPrepared: 60, turnWritten: 60, turnClosed: 60 },
}
const likelyEvent: fc.Arbitrary<LoopEvent> = fc.oneof(
  ...eventTypes.map(type => ({ arbitrary: events[type], weight: weights[type] ?? 20 })),
)
const phases = Object.keys(loopTable) as LoopPhase[] // the keys of the table are all phases

interface Step {
  readonly before: LoopState
  readonly event: LoopEvent
  readonly after: LoopState
  readonly effects: readonly LoopEffect[]
}

/** Returns whether the session loop can report this event in this state. The loop reports the next step of a turn or of a call only after it was asked to do that step, and reports outputs only of a process that runs. */
function canHappen(state: LoopState, event: LoopEvent): boolean {
  const { turn, process, calls } = state
  const stage = turn?.stage
  const call = 'id' in event ? calls.get(event.id)?.stage : undefined
  switch (event.type) {
    case 'turnPrepared':
      return stage === 'preparing' && process !== 'closing'
    case 'turnRefused':
      return stage === 'preparing'
    case 'turnWritten':
      return stage === 'closing'
    case 'turnClosed':
      return stage === 'written'
    case 'ready':
    case 'turnStarted':
    case 'turnEnded':
    case 'callOpened':
    case 'backgroundChanged':
    case 'parkingChanged':
    case 'callTaken':
    case 'callAborted':
      return process === 'starting' || process === 'live'
    case 'requestOpened':
      return call === 'opening'
    case 'callResolved':
      return call === 'pending'
    case 'callHanded':
      return call === 'handing'
    case 'callFailed':
      return call !== undefined
    case 'processExit':
      return process !== 'none'
    case 'idleTimer':
      return turn === null
    default:
      return true
  }
}

/** Plays a sequence of choices: for each choice, applies the first event that can happen. */
function play(sequence: readonly (readonly LoopEvent[])[]): readonly Step[] {
  const steps: Step[] = []
  let state = initialLoopState
  for (const choice of sequence) {
    const event = choice.find(one => canHappen(state, one))
    if (!event) continue
    const before = state
    const { state: after, effects } = transition(state, event)
    steps.push({ before, event, after, effects })
    state = after
  }
  return steps
}

const choice = fc.array(likelyEvent, { minLength: 4, maxLength: 4 })
const sequences = fc.array(choice, { maxLength: 100, size: 'max' })
function check(property: (steps: readonly Step[]) => void): void {
  fc.assert(
    fc.property(sequences, sequence => property(play(sequence))),
    { numRuns: Number(process.env.HOLDPOINT_ROUNDS ?? 1) * 300 },
  )
}
const has = (effects: readonly LoopEffect[], ...types: readonly LoopEffect['type'][]) =>
  effects.some(effect => types.includes(effect.type))

describe('the transition table of the session loop', () => {
  it('the transition table of the session loop has an action for every event in every phase, and every action accepts its event', () => {
    for (const phase of phases) expect(Object.keys(loopTable[phase]).sort()).toEqual([...eventTypes].sort())
    fc.assert(
      fc.property(sequences, anyEvent, (sequence, event) => {
        const state = play(sequence).at(-1)?.after ?? initialLoopState
        const { state: next, effects } = transition(state, event)
        expect(phases).toContain(phaseOf(next))
        expect(Array.isArray(effects)).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  it('the transition table of the session loop reaches every phase, and every action', () => {
    const reached = new Set<string>()
    const used = new Set<string>()
    for (const sequence of fc.sample(sequences, { numRuns: 500, seed: 7 }))
      for (const { before, event } of play(sequence)) {
        reached.add(phaseOf(before))
        used.add(loopTable[phaseOf(before)][event.type])
      }
    expect([...reached].sort()).toEqual([...phases].sort())
    const named = new Set(phases.flatMap(phase => Object.values(loopTable[phase])))
    expect([...named].filter(action => !used.has(action))).toEqual([])
  })

  it('the transition table of the session loop is the table of docs/drivers.md, which also describes every effect', () => {
    const docs = readFileSync(resolve(import.meta.dirname, '../../../docs/drivers.md'), 'utf8')
    const rows = eventTypes.map(type => `| \`${type}\` | ${phases.map(phase => loopTable[phase][type]).join(' | ')} |`)
    const table = [`| event | ${phases.join(' | ')} |`, `|---|${phases.map(() => '---|').join('')}`, ...rows]
    expect(docs).toContain(table.join('\n'))
    const effects = fc
      .sample(sequences, { numRuns: 500, seed: 7 })
      .flatMap(play)
      .flatMap(step => step.effects)
    for (const type of new Set(effects.map(effect => effect.type))) expect(docs).toContain(`\`${type}\``)
  })
})

describe('the session loop under random events', () => {
  it('under random events, the session loop never starts a turn while another turn is open', () => {
    check(steps => {
      for (const { before, event, effects } of steps) {
        const started = effects.filter(effect => has([effect], 'prepareMessage', 'prepareResume', 'followTurn'))
        expect(started.length).toBeLessThanOrEqual(1)
        if (started.length > 0)
          expect(before.turn === null || event.type === 'turnClosed' || has(effects, 'leaveTurn')).toBe(true)
      }
    })
  })

  it('under random events, the session loop processes every queued message in its own turn, unless the session is released', () => {
    check(steps => {
      const queued = steps.filter(({ event }) => event.type === 'messageQueued').length
      const prepared = steps.filter(({ effects }) => has(effects, 'prepareMessage')).length
      const last = steps.at(-1)?.after ?? initialLoopState
      expect(queued).toBe(prepared + last.queued)
      if (last.queued > 0) expect(last.turn !== null || last.isReleasing).toBe(true)
    })
  })

  it('under random events, the session loop closes every turn at most once, and never closes a turn that did not start', () => {
    check(steps => {
      let open = 0
      for (const { before, event, effects } of steps) {
        if (event.type === 'turnClosed' && !before.isReleasing) open--
        for (const effect of effects) {
          if (has([effect], 'prepareMessage', 'prepareResume', 'followTurn')) open++
          if (has([effect], 'leaveTurn')) open--
          if (has([effect], 'closeTurn')) expect(open).toBe(1)
          expect(open).toBeGreaterThanOrEqual(0)
          expect(open).toBeLessThanOrEqual(1)
        }
      }
    })
  })

  it('under random events, the session loop hands over an answer only while the process can take it, and never twice for one call', () => {
    check(steps => {
      const handing = new Set<string>()
      for (const { before, event, effects } of steps)
        for (const effect of effects) {
          if (effect.type === 'openRequest') handing.delete(effect.id)
          if (effect.type !== 'hand') continue
          expect(before.process).not.toBe('closing')
          expect(before.isReleasing).toBe(false)
          expect(handing.has(effect.id), `${event.type} hands ${effect.id} twice`).toBe(false)
          handing.add(effect.id)
        }
    })
  })

  it('under random events, the session loop ends every request in exactly one way: given and taken, dropped, withdrawn, failed, or left open for the next process', () => {
    check(steps => {
      const open = new Set<string>()
      for (const { before, event, effects } of steps) {
        if (event.type === 'callFailed' && !before.isReleasing) open.delete(event.id)
        for (const effect of effects) {
          if (effect.type === 'openRequest') {
            expect(open.has(effect.id)).toBe(false)
            open.add(effect.id)
          }
          if (effect.type === 'withdraw' || effect.type === 'reportTaken' || effect.type === 'reportDropped') {
            expect(open.has(effect.id), effect.type).toBe(true)
            open.delete(effect.id)
          }
        }
      }
      const last = steps.at(-1)?.after ?? initialLoopState
      expect([...open].sort()).toEqual([...last.calls.keys()].sort())
    })
  })

  it('under random events, the session loop gives an answer to the agent only after it was handed, and not after the call was abandoned', () => {
    check(steps => {
      for (const { before, event, effects } of steps)
        if (has(effects, 'giveAnswer')) {
          expect(event.type).toBe('callHanded')
          if (event.type === 'callHanded') expect(before.calls.get(event.id)?.isAbandoned).toBe(false)
        }
    })
  })

  it('under random events, the session loop withdraws all waiting calls at an interrupt, before the agent is told', () => {
    check(steps => {
      for (const { before, event, after, effects } of steps) {
        if (event.type !== 'interrupt' || before.turn?.stage !== 'running' || before.isReleasing) continue
        expect(activeCalls(after).every(([, { stage }]) => stage === 'given')).toBe(true)
        const types = effects.map(({ type }) => type)
        const told = types.indexOf('interruptAgent')
        if (told >= 0) expect(types.slice(told)).not.toContain('refuseCall')
      }
    })
  })

  it('under random events, the session loop starts the stop timer whenever a person stops a running turn', () => {
    check(steps => {
      for (const { before, event, effects } of steps) {
        const isStop = event.type === 'interrupt' || (event.type === 'endingChosen' && event.isStop)
        if (isStop && before.turn?.stage === 'running' && !before.isReleasing)
          expect(has(effects, 'startStopTimer')).toBe(true)
      }
    })
  })

  it('under random events, the session loop stops no process that is working, and parks no session with an open turn', () => {
    check(steps => {
      for (const { before, effects } of steps)
        if (has(effects, 'parkSession')) {
          expect(before.turn).toBeNull()
          expect(before.background).toBe(0)
          expect(isBusy(before)).toBe(false)
        }
    })
  })

  it('under random events, the session loop always has an open turn while the agent works or asks', () => {
    check(steps => {
      for (const { event, after } of steps)
        if (!after.isReleasing) expect(isBusy(after) && after.turn === null, event.type).toBe(false)
    })
  })

  it('under random events, the session loop starts nothing after the release of the session has begun', () => {
    check(steps => {
      for (const { before, effects } of steps)
        if (before.isReleasing)
          expect(effects.filter(({ type }) => type !== 'leaveTurn').map(({ type }) => type)).toEqual([])
    })
  })

  it('under random events, the session loop closes a process at most once, and connects only if there is no process', () => {
    check(steps => {
      let isClosing = false
      for (const { before, event, effects } of steps) {
        if (event.type === 'processExit') isClosing = false
        for (const effect of effects) {
          if (effect.type === 'connect') expect(before.process).toBe('none')
          if (effect.type !== 'closeProcess') continue
          expect(isClosing).toBe(false)
          isClosing = true
        }
      }
    })
  })

  it('under random events, the session loop never loses work silently when the process exits: its turn is closed as lost or interrupted, the session is released, or the loss is reported', () => {
    check(steps => {
      for (const { before, event, after, effects } of steps) {
        if (event.type !== 'processExit' || !isBusy(before)) continue
        // The next runner resumes a turn that is open in the log.
        if (before.isReleasing && before.turn?.stage === 'closing') expect(after.turn?.continues).toBe(true)
        // After an interrupt, the loop has ended the process itself.
        if (before.isReleasing || before.process === 'closing') continue
        const reported = [...effects, ...finishTurns(after)].some(
          effect =>
            has([effect], 'releaseLost', 'reportLostWork') ||
            (effect.type === 'closeTurn' && (effect.over === 'lost' || effect.over === 'interrupted')),
        )
        expect(reported).toBe(true)
      }
    })
  })

  it('under random events, the session loop keeps no call of a process that has exited, unless the session is released because of it', () => {
    check(steps => {
      for (const { after, event } of steps)
        if (after.process === 'none' && !after.isReleasing && !after.turn?.continues)
          expect(activeCalls(after), event.type).toEqual([])
    })
  })
})

/** Returns the effects that follow until the turns that are over have left the loop. */
function finishTurns(from: LoopState): readonly LoopEffect[] {
  const following: Partial<Record<string, LoopEvent>> = {
    closing: { type: 'turnWritten' },
    written: { type: 'turnClosed' },
  }
  const next = from.isReleasing ? undefined : following[from.turn?.stage ?? '']
  if (!next) return []
  const { state, effects } = transition(from, next)
  return [...effects, ...finishTurns(state)]
}
