/** The prompt that is put: when its keys count, and that nothing meant for one reaches another. */
import type { Answer, Ask, Call, RequestId } from '@holdpoint/protocol'
import { Fault } from '@holdpoint/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { PromptDrafts } from '../src/tui/prompt/draft-sync.ts'
import type { ScreenSize } from '../src/tui/prompt/layout/prompt-layout.ts'
import {
  inputCooldownMs,
  PromptController,
  type PromptControllerOptions,
  suspendCheckMs,
} from '../src/tui/prompt/prompt-controller.ts'
import type { Key } from '../src/tui/terminal/key-parser.ts'
import { requestOf } from './support/request.ts'

const ask: Ask = { kind: 'approval', tool: 'Bash', input: { command: 'ls' }, title: 'List', cwd: '/', editable: true }
const letter = (text: string): Key => ({ name: 'text', text, alone: true })
const [one, two] = [requestOf(ask, 'req_one'), requestOf(ask, 'req_two')]

/** A gateway that notes what it is to keep. */
function keeping(sent: unknown[]): PromptDrafts {
  const call = async (op: string, input: { readonly draft?: unknown }) => {
    if (op !== 'putDraft') return { draft: null, others: [] }
    sent.push(input.draft)
    return { at: 1 }
  }
  return new PromptDrafts({ call: call as Call, me: '', frames: () => () => {} }) // it is asked for nothing else
}
/** A gateway that keeps nothing. */
const nobody: Call = async () => {
  throw new Fault('not_found', 'nothing is kept here')
}
let answers: { readonly id: RequestId; readonly answer: Answer }[]
let refuse: Error | null
let reachable: boolean
let edited: (text: string | null) => void
let asking: PromptController
let options: PromptControllerOptions
/** As if it had been drawn, all of it, and looked at. */
const wide: ScreenSize = { columns: 80, height: 20 }
function looked(): void {
  asking.lay(wide, { at: 1, of: 1 })
  asking.painted()
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
    drafts: new PromptDrafts({ call: nobody, me: '', frames: () => () => {} }),
    changed: () => {},
  }
  asking = new PromptController(options)
  asking.put(one, [])
})
afterEach(() => {
  vi.useRealTimers()
})

describe('a prompt that has just appeared', () => {
  it('drops keys, and goes on dropping them while they keep coming', async () => {
    asking.lay(wide, { at: 1, of: 1 })
    asking.painted()
    for (let at = 0; at < 20; at++) {
      asking.press(letter('a'))
      vi.advanceTimersByTime(inputCooldownMs - 1)
    }
    expect(answers).toEqual([])
    expect(asking.standing).toBe('quiet')
    vi.advanceTimersByTime(1)
    expect(asking.standing).toBe('live')
    asking.press(letter('a'))
    await vi.advanceTimersByTimeAsync(suspendCheckMs)
    expect(answers).toEqual([{ id: one.id, answer: { kind: 'allow' } }])
  })
  it('is rejected by Ctrl+C at any time: that never allows', () => {
    asking.reject()
    expect(answers).toEqual([{ id: one.id, answer: { kind: 'deny' } }])
  })
  it('cannot be allowed before it was drawn', async () => {
    vi.advanceTimersByTime(inputCooldownMs)
    asking.press(letter('a'))
    expect(answers).toEqual([])
    asking.lay(wide, { at: 1, of: 1 })
    asking.press(letter('a'))
    await vi.advanceTimersByTimeAsync(suspendCheckMs)
    expect(answers, 'nor before the frame was on the terminal').toEqual([])
    expect(asking.prompt?.hint).toMatch(/Not all of it/)
  })
})

describe('a prompt that had no room', () => {
  it('is as one that has just appeared, once it has', async () => {
    looked()
    asking.lay({ columns: 80, height: 2 }, { at: 1, of: 1 })
    asking.lay(wide, { at: 1, of: 1 })
    asking.painted()
    expect(asking.standing).toBe('quiet')
    asking.press(letter('a'))
    expect(answers, 'it was pressed when there was nothing to read').toEqual([])
    vi.advanceTimersByTime(inputCooldownMs)
    asking.press(letter('a'))
    await vi.advanceTimersByTimeAsync(suspendCheckMs)
    expect(answers).toHaveLength(1)
  })
})

describe('without a gateway', () => {
  it('no key counts, and it says so', async () => {
    looked()
    reachable = false
    expect(asking.standing).toBe('away')
    asking.press(letter('a'))
    expect(answers).toEqual([])
    reachable = true
    asking.press(letter('a'))
    await vi.advanceTimersByTimeAsync(suspendCheckMs)
    expect(answers).toHaveLength(1)
  })
})

describe('an edit', () => {
  it('that comes back when another request stands there changes nothing of that one', async () => {
    looked()
    asking.press(letter('e'))
    asking.forget(one.id)
    asking.put(two, [])
    looked()
    asking.returned()
    edited('rm -rf /')
    await vi.advanceTimersByTimeAsync(0)
    expect(asking.prompt?.request.id).toBe(two.id)
    expect(asking.prompt?.part).toMatchObject({ input: null })
    expect(asking.standing).toBe('quiet')
  })
  it('by an editor that failed is told, and changes nothing', async () => {
    looked()
    asking.press(letter('e'))
    edited(null)
    await vi.advanceTimersByTimeAsync(0)
    expect(asking.prompt?.hint).toMatch(/The editor failed/)
  })
})

describe('an answer', () => {
  it('by a key before it was heard that the terminal had been another program’s is not given', async () => {
    looked()
    asking.press(letter('a'))
    vi.advanceTimersByTime(suspendCheckMs - 1)
    asking.returned()
    await vi.advanceTimersByTimeAsync(1)
    expect(answers).toEqual([])
    expect(asking.standing).toBe('quiet')
    vi.advanceTimersByTime(inputCooldownMs)
    asking.press(letter('a'))
    await vi.advanceTimersByTimeAsync(suspendCheckMs)
    expect(answers).toHaveLength(1)
  })
  it('is given though one has gone on to another request, or left', async () => {
    looked()
    asking.press(letter('a'))
    asking.put(two, [])
    await vi.advanceTimersByTimeAsync(suspendCheckMs)
    expect(answers.map(({ id }) => id)).toEqual([one.id])
    looked()
    asking.press(letter('a'))
    await asking.close()
    expect(answers.map(({ id }) => id)).toEqual([one.id, two.id])
  })
  it('to what was let go meanwhile is not given to what stands there then', async () => {
    looked()
    asking.press(letter('a'))
    asking.forget(one.id)
    asking.put(two, [])
    await vi.advanceTimersByTimeAsync(suspendCheckMs)
    expect(answers).toEqual([])
  })
  it('that the gateway refuses is told, and the prompt stays', async () => {
    refuse = new Fault('store_locked', 'The archive is locked.')
    looked()
    asking.press(letter('a'))
    expect(asking.standing).toBe('sending')
    await vi.advanceTimersByTimeAsync(suspendCheckMs)
    expect(asking.prompt?.hint).toBe('It was not sent: The archive is locked.')
    expect(asking.isOurs(one.id)).toBe(false)
  })
  it('that came too late is not ours', async () => {
    refuse = new Fault('already_resolved', 'Somebody was faster.')
    looked()
    asking.press(letter('a'))
    await vi.advanceTimersByTimeAsync(suspendCheckMs)
    expect(asking.isOurs(one.id)).toBe(false)
    expect(asking.prompt?.hint).toBeNull()
  })
  it('half given is kept while another request is put', () => {
    looked()
    for (const key of [letter('n'), letter('h'), letter('i'), { name: 'enter', alone: true } as const])
      asking.press(key)
    asking.put(two, [])
    looked()
    expect(asking.prompt?.part).toMatchObject({ note: '' })
    asking.put(one, [])
    looked()
    expect(asking.prompt?.part).toMatchObject({ note: 'hi' })
  })
})

describe('a prompt that is let go', () => {
  it('sends to its last letter what was written in it', async () => {
    const sent: unknown[] = []
    const drafts = keeping(sent)
    asking = new PromptController({ ...options, drafts })
    asking.put(one, [])
    looked()
    for (const text of ['n', 'h', 'm']) asking.press(letter(text))
    asking.forget(one.id)
    await vi.advanceTimersByTimeAsync(0)
    expect(sent).toEqual([{ version: 1, note: 'hm' }])
  })

  it('is so wherever it stands, once nothing waits for it', async () => {
    const sent: unknown[] = []
    const drafts = keeping(sent)
    asking = new PromptController({ ...options, drafts })
    asking.put(one, [])
    looked()
    asking.press(letter('n'))
    asking.put(two, [])
    asking.sweep(id => id === two.id)
    expect(asking.prompt?.request.id).toBe(two.id)
    asking.put(one, [])
    expect(asking.prompt?.part, 'it begins anew').toMatchObject({ stage: 'decide' })
  })
})
