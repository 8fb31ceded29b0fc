/** The prompt controller: when keys count, and that no key or edit reaches a different request. */
import type { Answer, Ask, Call, RequestId } from '@holdpoint/protocol'
import { Fault } from '@holdpoint/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ScreenSize } from '../src/tui/prompt/layout/prompt-layout.ts'
import {
  inputCooldownMs,
  PromptController,
  type PromptControllerOptions,
  suspendCheckMs,
} from '../src/tui/prompt/prompt-controller.ts'
import { PromptDrafts } from '../src/tui/prompt/prompt-drafts.ts'
import type { Key } from '../src/tui/terminal/key-parser.ts'
import { pendingRequest } from './support/request.ts'

const ask: Ask = { kind: 'approval', tool: 'Bash', input: { command: 'ls' }, title: 'List', cwd: '/', editable: true }
const letter = (text: string): Key => ({ name: 'text', text, alone: true })
const [one, two] = [pendingRequest(ask, 'req_one'), pendingRequest(ask, 'req_two')]

/** Creates the drafts of a fake gateway that records every draft it receives. */
function recordingDrafts(sent: unknown[]): PromptDrafts {
  const call = async (op: string, input: { readonly draft?: unknown }) => {
    if (op !== 'putDraft') return { draft: null, others: [] }
    sent.push(input.draft)
    return { at: 1 }
  }
  return new PromptDrafts({ call: call as Call, me: '', frames: () => () => {} }) // `PromptDrafts` calls no other operation
}
/** A fake gateway that fails every call. */
const failingCall: Call = async () => {
  throw new Fault('not_found', 'There is no draft')
}
let answers: { readonly id: RequestId; readonly answer: Answer }[]
let refuse: Error | null
let reachable: boolean
let edited: (text: string | null) => void
let controller: PromptController
let options: PromptControllerOptions
const wide: ScreenSize = { columns: 80, height: 20 }
function showForOneCooldown(): void {
  controller.layout(wide, { at: 1, of: 1 })
  controller.onPainted()
  vi.advanceTimersByTime(inputCooldownMs)
}
beforeEach(() => {
  vi.useFakeTimers()
  answers = []
  refuse = null
  reachable = true
  options = {
    answer: async (id, answer) => {
      if (refuse) throw refuse
      answers.push({ id, answer })
    },
    edit: () =>
      new Promise(resolve => {
        edited = resolve
      }),
    isReachable: () => reachable,
    drafts: new PromptDrafts({ call: failingCall, me: '', frames: () => () => {} }),
    changed: () => {},
  }
  controller = new PromptController(options)
  controller.show(one, [])
})
afterEach(() => {
  vi.useRealTimers()
})

describe('a prompt that has just appeared', () => {
  it('ignores keys until no key has been pressed for the length of the cooldown', async () => {
    controller.layout(wide, { at: 1, of: 1 })
    controller.onPainted()
    for (let at = 0; at < 20; at++) {
      controller.handleKey(letter('a'))
      vi.advanceTimersByTime(inputCooldownMs - 1)
    }
    expect(answers).toEqual([])
    expect(controller.status).toBe('cooldown')
    vi.advanceTimersByTime(1)
    expect(controller.status).toBe('live')
    controller.handleKey(letter('a'))
    await vi.advanceTimersByTimeAsync(suspendCheckMs)
    expect(answers).toEqual([{ id: one.id, answer: { kind: 'allow' } }])
  })
  it('is denied by Ctrl+C even during the cooldown', () => {
    controller.denyOrDecline()
    expect(answers).toEqual([{ id: one.id, answer: { kind: 'deny' } }])
  })
  it('cannot be allowed before it has been drawn on the terminal', async () => {
    vi.advanceTimersByTime(inputCooldownMs)
    controller.handleKey(letter('a'))
    expect(answers).toEqual([])
    controller.layout(wide, { at: 1, of: 1 })
    controller.handleKey(letter('a'))
    await vi.advanceTimersByTimeAsync(suspendCheckMs)
    expect(answers, 'no answer before the frame is on the terminal').toEqual([])
    expect(controller.prompt?.hint).toMatch(/haven’t seen the whole request/)
  })
})

describe('a prompt on a screen that was too small', () => {
  it('starts its cooldown again when the screen is large enough', async () => {
    showForOneCooldown()
    controller.layout({ columns: 80, height: 2 }, { at: 1, of: 1 })
    controller.layout(wide, { at: 1, of: 1 })
    controller.onPainted()
    expect(controller.status).toBe('cooldown')
    controller.handleKey(letter('a'))
    expect(answers, 'the key was pressed while the request was not visible').toEqual([])
    vi.advanceTimersByTime(inputCooldownMs)
    controller.handleKey(letter('a'))
    await vi.advanceTimersByTimeAsync(suspendCheckMs)
    expect(answers).toHaveLength(1)
  })
})

describe('a prompt without a connection to the gateway', () => {
  it('ignores keys and shows that it is disconnected', async () => {
    showForOneCooldown()
    reachable = false
    expect(controller.status).toBe('disconnected')
    controller.handleKey(letter('a'))
    expect(answers).toEqual([])
    reachable = true
    controller.handleKey(letter('a'))
    await vi.advanceTimersByTimeAsync(suspendCheckMs)
    expect(answers).toHaveLength(1)
  })
})

describe('the editor of a prompt', () => {
  it('does not change a different request that appeared while the editor was open', async () => {
    showForOneCooldown()
    controller.handleKey(letter('e'))
    controller.remove(one.id)
    controller.show(two, [])
    showForOneCooldown()
    controller.onTerminalReturned()
    edited('rm -rf /')
    await vi.advanceTimersByTimeAsync(0)
    expect(controller.prompt?.request.id).toBe(two.id)
    expect(controller.prompt?.state).toMatchObject({ input: null })
    expect(controller.status).toBe('cooldown')
  })
  it('changes nothing if it fails, and the prompt shows a hint', async () => {
    showForOneCooldown()
    controller.handleKey(letter('e'))
    edited(null)
    await vi.advanceTimersByTimeAsync(0)
    expect(controller.prompt?.hint).toMatch(/The editor failed/)
  })
})

describe('the answer of a prompt', () => {
  it('is not sent if the key was typed while the program was suspended', async () => {
    showForOneCooldown()
    controller.handleKey(letter('a'))
    vi.advanceTimersByTime(suspendCheckMs - 1)
    controller.onTerminalReturned()
    await vi.advanceTimersByTimeAsync(1)
    expect(answers).toEqual([])
    expect(controller.status).toBe('cooldown')
    vi.advanceTimersByTime(inputCooldownMs)
    controller.handleKey(letter('a'))
    await vi.advanceTimersByTimeAsync(suspendCheckMs)
    expect(answers).toHaveLength(1)
  })
  it('is sent even if the person has moved on to another request or left', async () => {
    showForOneCooldown()
    controller.handleKey(letter('a'))
    controller.show(two, [])
    await vi.advanceTimersByTimeAsync(suspendCheckMs)
    expect(answers.map(({ id }) => id)).toEqual([one.id])
    showForOneCooldown()
    controller.handleKey(letter('a'))
    await controller.close()
    expect(answers.map(({ id }) => id)).toEqual([one.id, two.id])
  })
  it('is not sent if its request is removed, not even to the request that replaced it', async () => {
    showForOneCooldown()
    controller.handleKey(letter('a'))
    controller.remove(one.id)
    controller.show(two, [])
    await vi.advanceTimersByTimeAsync(suspendCheckMs)
    expect(answers).toEqual([])
  })
  it('that the gateway refuses leaves the prompt open with a hint', async () => {
    refuse = new Fault('store_locked', 'The store is locked.')
    showForOneCooldown()
    controller.handleKey(letter('a'))
    expect(controller.status).toBe('sending')
    await vi.advanceTimersByTimeAsync(suspendCheckMs)
    expect(controller.prompt?.hint).toBe('Not sent: The store is locked.')
    expect(controller.isAnsweredHere(one.id)).toBe(false)
  })
  it('does not count as sent from this terminal if someone else answered first', async () => {
    refuse = new Fault('already_resolved', 'Somebody was faster.')
    showForOneCooldown()
    controller.handleKey(letter('a'))
    await vi.advanceTimersByTimeAsync(suspendCheckMs)
    expect(controller.isAnsweredHere(one.id)).toBe(false)
    expect(controller.prompt?.hint).toBeNull()
  })
  it('is kept if it is unfinished and another request is shown', () => {
    showForOneCooldown()
    for (const key of [letter('n'), letter('h'), letter('i'), { name: 'enter', alone: true } as const])
      controller.handleKey(key)
    controller.show(two, [])
    showForOneCooldown()
    expect(controller.prompt?.state).toMatchObject({ note: '' })
    controller.show(one, [])
    showForOneCooldown()
    expect(controller.prompt?.state).toMatchObject({ note: 'hi' })
  })
})

describe('a removed prompt', () => {
  it('sends the last changes of its draft', async () => {
    const sent: unknown[] = []
    const drafts = recordingDrafts(sent)
    controller = new PromptController({ ...options, drafts })
    controller.show(one, [])
    showForOneCooldown()
    for (const text of ['n', 'h', 'm']) controller.handleKey(letter(text))
    controller.remove(one.id)
    await vi.advanceTimersByTimeAsync(0)
    expect(sent).toEqual([{ version: 1, note: 'hm' }])
  })

  it('starts over when its request is shown again, even if the prompt was not on the screen when it was removed', async () => {
    const sent: unknown[] = []
    const drafts = recordingDrafts(sent)
    controller = new PromptController({ ...options, drafts })
    controller.show(one, [])
    showForOneCooldown()
    controller.handleKey(letter('n'))
    controller.show(two, [])
    controller.removeUnless(id => id === two.id)
    expect(controller.prompt?.request.id).toBe(two.id)
    controller.show(one, [])
    expect(controller.prompt?.state, 'the prompt starts over').toMatchObject({ step: 'decide' })
  })
})
