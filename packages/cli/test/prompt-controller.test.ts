/** The prompt controller: when keys count, and that no key or edit reaches a different request. */
import { letterPauseMs, TypingGuard, typingPauseMs } from '@holdpoint/client'
import type { Answer, Ask, Call, RequestId, Risk } from '@holdpoint/protocol'
import { Fault } from '@holdpoint/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { RuleOffers } from '../src/gateway-client/rule-offers.ts'
import type { ScreenSize } from '../src/tui/prompt/layout/prompt-layout.ts'
import { inputCooldownMs, PromptController, type PromptControllerOptions } from '../src/tui/prompt/prompt-controller.ts'
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
let offers: RuleOffers
let risk: () => Risk
let edited: (text: string | null) => void
let controller: PromptController
let options: PromptControllerOptions
const wide: ScreenSize = { columns: 80, height: 20 }
/** The fake clock counts a millisecond for each of the four iterations of the event loop that read pending input. */
const pendingInputMs = 4
/** Presses a letter and waits until it is carried out, because no other key follows. */
async function command(text: string): Promise<void> {
  controller.handleKey(letter(text))
  await vi.advanceTimersByTimeAsync(letterPauseMs + pendingInputMs)
}
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
  risk = () => ({ level: 'low', touches: [] })
  offers = { items: [], reason: 'A rule needs a command that Holdpoint can read completely.', now: 1_000 }
  options = {
    answer: async (id, answer) => {
      if (refuse) throw refuse
      answers.push({ id, answer })
    },
    edit: () =>
      new Promise(resolve => {
        edited = resolve
      }),
    offers: async () => offers,
    risk: async () => risk(),
    isReachable: () => reachable,
    isAgentDisconnected: () => false,
    capabilitiesOf: () => undefined,
    guard: new TypingGuard(() => performance.now()),
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
  it('a prompt that has just appeared ignores keys until no key has been pressed for the length of the cooldown', async () => {
    controller.layout(wide, { at: 1, of: 1 })
    controller.onPainted()
    for (let at = 0; at < 20; at++) {
      controller.handleKey(letter('a'))
      vi.advanceTimersByTime(letterPauseMs - 1)
    }
    expect(answers).toEqual([])
    expect(controller.status).toBe('cooldown')
    vi.advanceTimersByTime(1)
    expect(controller.status).toBe('live')
    await command('a')
    expect(answers).toEqual([{ id: one.id, answer: { kind: 'allow' } }])
  })
  it('a prompt that has just appeared accepts a key after the cooldown if no key was pressed before', async () => {
    controller.layout(wide, { at: 1, of: 1 })
    controller.onPainted()
    vi.advanceTimersByTime(inputCooldownMs)
    await command('r')
    expect(answers).toEqual([{ id: one.id, answer: { kind: 'deny' } }])
  })
  it('a prompt that has just appeared cannot be allowed before it has been drawn on the terminal', async () => {
    vi.advanceTimersByTime(inputCooldownMs)
    await command('a')
    expect(answers).toEqual([])
    controller.layout(wide, { at: 1, of: 1 })
    await vi.advanceTimersByTimeAsync(typingPauseMs)
    await command('a')
    expect(answers, 'no answer before the frame is on the terminal').toEqual([])
    expect(controller.prompt?.hint).toMatch(/haven’t seen the whole request/)
  })
})

describe('a letter in a prompt', () => {
  beforeEach(showForOneCooldown)

  it('a letter in a prompt acts only if no other key follows, and the screen shows its action until then', async () => {
    controller.handleKey(letter('a'))
    await vi.advanceTimersByTimeAsync(letterPauseMs - 1)
    expect([controller.status, answers]).toEqual(['held', []])
    const shown = JSON.stringify(controller.layout(wide, { at: 1, of: 1 }))
    expect(shown).toContain('Allowing… Esc cancels.')
    await vi.advanceTimersByTimeAsync(1 + pendingInputMs)
    expect(answers).toHaveLength(1)
  })
  it.each<[string, Key]>([
    ['another letter', letter('r')],
    ['the same letter, as from a key that is held down', letter('a')],
    ['a digit', letter('2')],
    ['Enter', { name: 'enter', alone: true }],
    ['Escape', { name: 'escape', alone: true }],
    ['an arrow key', { name: 'down', alone: true }],
    ['a paste', { name: 'text', text: 'rea', alone: false }],
  ])('a letter in a prompt does not act if %s follows', async (_, key) => {
    controller.handleKey(letter('a'))
    await vi.advanceTimersByTimeAsync(letterPauseMs - 1)
    controller.handleKey(key)
    await vi.advanceTimersByTimeAsync(5000)
    expect(answers).toEqual([])
    expect(controller.prompt?.hint).toBe('Nothing was sent, because another key followed.')
  })
  it('a letter in a prompt does not act if the person leaves', async () => {
    controller.handleKey(letter('a'))
    await controller.close()
    await vi.advanceTimersByTimeAsync(5000)
    expect(answers).toEqual([])
  })
  it('confirmHeld carries out a held letter at once', async () => {
    controller.handleKey(letter('a'))
    controller.confirmHeld()
    await vi.advanceTimersByTimeAsync(0)
    expect(answers).toHaveLength(1)
  })
  it.each(['z', 'R', 'd', 'e', 'n'])('letters are ignored for a second after the text z and %s', async second => {
    controller.handleKey(letter('z'))
    await vi.advanceTimersByTimeAsync(600)
    controller.handleKey(letter(second))
    await vi.advanceTimersByTimeAsync(typingPauseMs - 1)
    expect(controller.status).toBe('typing')
    await command('a')
    expect(answers).toEqual([])
    await vi.advanceTimersByTimeAsync(typingPauseMs)
    expect(controller.status).toBe('live')
    await command('a')
    expect(answers).toHaveLength(1)
  })
  it('a letter in a prompt right after a key that scrolls is ignored, and a hint says so', async () => {
    controller.handleKey(letter(' '))
    await vi.advanceTimersByTimeAsync(letterPauseMs - 1)
    await command('a')
    expect(answers).toEqual([])
    expect(controller.prompt?.hint).toMatch(/right after another one/)
  })
})

describe('text that the person is typing', () => {
  it('text that the person is typing does not answer a prompt that replaces another prompt', async () => {
    showForOneCooldown()
    await command('R')
    for (const char of 'arr') controller.handleKey(letter(char))
    controller.remove(one.id)
    controller.show(two, [])
    showForOneCooldown()
    for (let at = 0; at < 20; at++) {
      controller.handleKey(letter('a'))
      await vi.advanceTimersByTimeAsync(600)
    }
    expect(answers).toEqual([])
    await vi.advanceTimersByTimeAsync(typingPauseMs)
    await command('a')
    expect(answers).toEqual([{ id: two.id, answer: { kind: 'allow' } }])
  })
  it('text that the person is typing does not reach the text field of a question that appears in the meantime', async () => {
    const question = { id: 'q', header: '', question: 'Why?', options: [], multiSelect: false }
    const text: Ask = { kind: 'questions', questions: [{ ...question, allowOther: true, secret: false }] }
    options.guard.noteText()
    controller.show(pendingRequest(text, 'req_text'), [])
    showForOneCooldown()
    for (const char of 'done\r') {
      controller.handleKey(char === '\r' ? { name: 'enter', alone: true } : letter(char))
      await vi.advanceTimersByTimeAsync(600)
    }
    expect(controller.prompt?.state).toMatchObject({ entries: [{ line: { text: '' } }] })
    await vi.advanceTimersByTimeAsync(typingPauseMs)
    for (const char of 'so') controller.handleKey(letter(char))
    controller.handleKey({ name: 'enter', alone: true })
    await vi.advanceTimersByTimeAsync(letterPauseMs)
    expect(answers, 'Enter right after typing').toEqual([])
    expect(controller.prompt?.hint).toMatch(/press Enter again/)
    controller.handleKey({ name: 'enter', alone: true })
    await vi.advanceTimersByTimeAsync(letterPauseMs + pendingInputMs)
    expect(answers).toMatchObject([{ answer: { answers: [{ other: 'so' }] } }])
  })
})

describe('a prompt on a screen that was too small', () => {
  it('a prompt on a screen that was too small starts its cooldown again when the screen is large enough', async () => {
    showForOneCooldown()
    controller.layout({ columns: 80, height: 2 }, { at: 1, of: 1 })
    controller.layout(wide, { at: 1, of: 1 })
    controller.onPainted()
    expect(controller.status).toBe('cooldown')
    controller.handleKey(letter('a'))
    expect(answers, 'the key was pressed while the request was not visible').toEqual([])
    vi.advanceTimersByTime(letterPauseMs)
    await command('a')
    expect(answers).toHaveLength(1)
  })
})

describe('a prompt without a connection to the gateway', () => {
  it('a prompt without a connection to the gateway ignores keys and shows that it is disconnected', async () => {
    showForOneCooldown()
    reachable = false
    expect(controller.status).toBe('disconnected')
    controller.handleKey(letter('a'))
    expect(answers).toEqual([])
    reachable = true
    await vi.advanceTimersByTimeAsync(typingPauseMs)
    await command('a')
    expect(answers).toHaveLength(1)
  })
})

describe('the editor of a prompt', () => {
  const change = (path: string) => ({ tool: 'Write', input: { file_path: path, content: 'x' } })
  it.each([
    ['.sh', 'a command', {}],
    ['.md', 'a plan', { tool: 'ExitPlanMode', input: { plan: '# Go' }, plan: '# Go' }],
    ['.ts', 'a file with an extension', change('/src/a.test.ts')],
    ['.txt', 'a file whose extension could mean something to a shell', change('/src/a.$(id)')],
    ['.json', 'any other input', { tool: 'Fetch', input: { to: 'x' } }],
  ])('the editor of a prompt opens a file with the extension %s for %s', async (extension, _, more) => {
    const opened: string[] = []
    const edit = async (_text: string, used: string) => {
      opened.push(used)
      return null
    }
    controller = new PromptController({ ...options, edit })
    controller.show(pendingRequest({ ...ask, ...more } as Ask), []) // the cases have the fields of an approval
    showForOneCooldown()
    await command('e')
    expect(opened).toEqual([extension])
  })
  it('the editor of a prompt does not change another request that appeared while the editor was open', async () => {
    showForOneCooldown()
    await command('e')
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
  it('the editor of a prompt changes nothing if it fails, and the prompt shows a hint', async () => {
    showForOneCooldown()
    await command('e')
    edited(null)
    await vi.advanceTimersByTimeAsync(0)
    expect(controller.prompt?.hint).toMatch(/The editor failed/)
  })
  it('an edited prompt shows the risk of the edited text, and treats the text as dangerous if its risk is unknown', async () => {
    showForOneCooldown()
    await command('e')
    edited('pwd')
    await vi.advanceTimersByTimeAsync(0)
    expect(controller.prompt?.state).toMatchObject({ input: { command: 'pwd' }, editedRisk: { level: 'low' } })
    risk = () => {
      throw new Fault('store_unavailable', 'The store is gone')
    }
    showForOneCooldown()
    await command('e')
    edited('id')
    await vi.advanceTimersByTimeAsync(0)
    expect(controller.prompt?.state).toMatchObject({ input: { command: 'id' }, editedRisk: { level: 'dangerous' } })
  })
})

describe('the answer of a prompt', () => {
  const enter: Key = { name: 'enter', alone: true }
  /** Presses the keys that deny the request with a reason. The last key is the Enter that sends the reason. */
  async function denyWithReason(): Promise<void> {
    await command('R')
    for (const key of [letter('n'), letter('o'), enter]) controller.handleKey(key)
  }

  it.each([
    ['a letter', async () => controller.handleKey(letter('a'))],
    ['Enter', denyWithReason],
  ])('the answer of a prompt is not sent if the program was suspended right after %s', async (_, decide) => {
    showForOneCooldown()
    await decide()
    controller.onTerminalReturned()
    await vi.advanceTimersByTimeAsync(5000)
    expect(answers).toEqual([])
    expect(controller.prompt?.hint).toMatch(/because the screen changed/)
  })
  it('the answer of a prompt is not sent if the person continues typing after Enter, and the text field keeps every letter', async () => {
    showForOneCooldown()
    await denyWithReason()
    controller.handleKey(letter('t'))
    await vi.advanceTimersByTimeAsync(5000)
    expect(answers).toEqual([])
    expect(controller.prompt?.state).toMatchObject({ step: 'reason', line: { text: 'not' } })
  })
  it('the answer of a prompt is not sent if its request is removed, and does not reach the request that replaces it', async () => {
    showForOneCooldown()
    controller.handleKey(letter('a'))
    controller.remove(one.id)
    controller.show(two, [])
    await vi.advanceTimersByTimeAsync(letterPauseMs)
    expect(answers).toEqual([])
  })
  it('the answer of a prompt that the gateway refuses leaves the prompt open with a hint', async () => {
    refuse = new Fault('store_locked', 'The store is locked.')
    showForOneCooldown()
    await denyWithReason()
    controller.confirmHeld()
    expect(controller.status).toBe('sending')
    await vi.advanceTimersByTimeAsync(0)
    expect(controller.prompt?.hint).toBe('Not sent: The store is locked.')
    expect(controller.isAnsweredHere(one.id)).toBe(false)
  })
  it('the answer of a prompt does not count as sent from this terminal if someone else answered first', async () => {
    refuse = new Fault('already_resolved', 'Somebody was faster.')
    showForOneCooldown()
    await command('a')
    expect(controller.isAnsweredHere(one.id)).toBe(false)
    expect(controller.prompt?.hint).toBeNull()
  })
  it('an unfinished answer is kept while another request is shown', async () => {
    showForOneCooldown()
    await command('n')
    for (const key of [letter('h'), letter('i'), enter]) controller.handleKey(key)
    controller.show(two, [])
    showForOneCooldown()
    expect(controller.prompt?.state).toMatchObject({ note: '' })
    controller.show(one, [])
    showForOneCooldown()
    expect(controller.prompt?.state).toMatchObject({ note: 'hi' })
  })
})

describe('a removed prompt', () => {
  it('a removed prompt sends the last changes of its draft', async () => {
    const sent: unknown[] = []
    const drafts = recordingDrafts(sent)
    controller = new PromptController({ ...options, drafts })
    controller.show(one, [])
    showForOneCooldown()
    await command('n')
    for (const text of 'hm') controller.handleKey(letter(text))
    controller.remove(one.id)
    await vi.advanceTimersByTimeAsync(0)
    expect(sent).toEqual([{ version: 1, note: 'hm' }])
  })

  it('a removed prompt starts over when its request is shown again, even if the prompt was not on the screen when it was removed', async () => {
    const sent: unknown[] = []
    const drafts = recordingDrafts(sent)
    controller = new PromptController({ ...options, drafts })
    controller.show(one, [])
    showForOneCooldown()
    await command('n')
    controller.show(two, [])
    controller.removeUnless(id => id === two.id)
    expect(controller.prompt?.request.id).toBe(two.id)
    controller.show(one, [])
    expect(controller.prompt?.state, 'the prompt starts over').toMatchObject({ step: 'decide' })
  })
})

describe('the list of rules', () => {
  beforeEach(showForOneCooldown)
  const rule = { effect: 'allow', command: 'ls', scope: { cwd: '/' } } as const
  const preview = {
    matched: 0,
    allowed: 0,
    denied: 0,
    allowedByYou: 0,
    deniedByYou: 0,
    since: null,
    complete: true,
    examples: [],
    pending: [],
    pendingComplete: true,
  }
  const item = { rule, explanation: '', runsProjectCode: false, preview }
  const paint = () => {
    controller.layout({ columns: 80, height: 40 }, { at: 1, of: 1 })
    controller.onPainted()
  }

  it('the list of rules ignores keys that were pressed before the rules arrived, and then sends the chosen rule', async () => {
    let arrive: (offers: RuleOffers) => void = () => {}
    options = { ...options, offers: () => new Promise(resolve => (arrive = resolve)) }
    controller = new PromptController(options)
    controller.show(one, [])
    showForOneCooldown()
    await command('s')
    controller.handleKey(letter('1'))
    arrive({ items: [item], reason: '', now: 0 })
    await vi.advanceTimersByTimeAsync(0)
    controller.handleKey({ name: 'enter', alone: true })
    await vi.advanceTimersByTimeAsync(typingPauseMs + letterPauseMs)
    expect(answers).toEqual([])
    for (const choice of ['1', '6']) {
      paint()
      controller.handleKey(letter(choice))
      paint()
      await vi.advanceTimersByTimeAsync(typingPauseMs)
      controller.handleKey({ name: 'enter', alone: true })
      await vi.advanceTimersByTimeAsync(letterPauseMs + pendingInputMs)
    }
    expect(answers).toEqual([{ id: one.id, answer: { kind: 'allow', remember: rule } }])
  })
  it('the list of rules closes with a hint if the rules cannot be loaded', async () => {
    options = { ...options, offers: () => Promise.reject(new Fault('draining', 'The gateway is stopping')) }
    controller = new PromptController(options)
    controller.show(one, [])
    showForOneCooldown()
    await command('s')
    expect(controller.prompt?.hint).toContain('The gateway is stopping')
    expect(controller.prompt?.state).toMatchObject({ step: 'decide' })
  })
})
