/** `holdpoint run` in a real pseudo-terminal: every way of asking, by every key. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ApprovalAsk, Ask, Question, Request, Session } from '@holdpoint/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways } from '../../../test/support/gateway.ts'
import { Scene } from './support/session-fixture.ts'
import { closeTerminals, keys, scriptedEditor, Terminal } from './support/terminal.ts'

const editorFolder = mkdtempSync(join(tmpdir(), 'holdpoint-test-editor-'))
const saw = join(editorFolder, 'saw')
const editor = { EDITOR: `${process.execPath} ${scriptedEditor}`, EDITOR_SAW: saw, EDITOR_TEXT: 'npm run edited' }

let scene: Scene
let session: Session
let terminal: Terminal
beforeAll(async () => {
  scene = await Scene.open()
})
afterAll(async () => {
  closeTerminals()
  await closeGateways()
  rmSync(editorFolder, { recursive: true })
})
/** One terminal for the cases of a kind: each asks anew in the same session. */
async function atOneTerminal(): Promise<void> {
  session = await scene.session()
  await scene.says(session, 'Let me see.')
  terminal = scene.run(session, { env: editor })
  await terminal.sees('Let me see.')
}
async function asked(ask: Ask, sign: string | RegExp): Promise<Request> {
  // What was asked before may still be on its way off the screen.
  await terminal.until(() => !/^● /m.test(terminal.text()), 'an end of what was asked before')
  const request = await scene.ask(session, ask)
  await terminal.sees(sign)
  return request
}
async function answerTo(request: Request) {
  return (await scene.resolved(request)).resolution?.answer
}

let count = 0
function approval(more: Partial<ApprovalAsk> = {}): ApprovalAsk {
  const command = `npm run job${++count}`
  return {
    kind: 'approval',
    tool: 'Bash',
    input: { command },
    title: 'Run a job',
    cwd: '/srv/app',
    editable: true,
    ...more,
  }
}
const suggestions = [
  { id: '0:session', label: 'Allow Bash(npm run:*)', scope: 'session' },
  { id: '1:localSettings', label: 'Go on in mode acceptEdits', scope: 'localSettings' },
]
function question(more: Partial<Question> = {}): Ask {
  const options = ['Red', 'Green', 'Blue'].map(label => ({ label }))
  const base = {
    id: 'q',
    header: '',
    question: `Which one, number ${++count}?`,
    options,
    multiSelect: false,
    allowOther: false,
    secret: false,
  }
  return { kind: 'questions', questions: [{ ...base, ...more }] }
}

describe('an approval', () => {
  beforeAll(atOneTerminal)
  const allowed = { kind: 'allow' }
  const denied = { kind: 'deny' }

  it.each([
    ['a', allowed],
    ['1', allowed],
    ['r', denied],
    ['2', denied],
    ['x', { kind: 'deny', interrupt: true }],
  ])('is answered by %s alone', async (key, answer) => {
    const ask = approval()
    const request = await asked(ask, '[a] Allow  [r] Reject')
    expect(terminal.text()).toContain(String(ask.input.command))
    terminal.press(key)
    expect(await answerTo(request)).toEqual(answer)
    await terminal.seesNot('[a] Allow')
  })

  it('takes a reason with R, and Enter in an empty one rejects nothing', async () => {
    const request = await asked(approval(), '[a] Allow')
    terminal.press('R')
    await terminal.sees('Reason ›')
    terminal.press(keys.enter)
    await terminal.sees('Say why')
    await terminal.type('ask ana first')
    terminal.press(keys.enter)
    expect(await answerTo(request)).toEqual({ kind: 'deny', reason: 'ask ana first' })
    await terminal.sees('denied by you: ask ana first')
  })

  it('carries a note with n', async () => {
    const request = await asked(approval(), '[a] Allow')
    terminal.press('n')
    await terminal.sees('Note ›')
    await terminal.type('only once')
    terminal.press(keys.enter)
    await terminal.sees('With your note: only once')
    terminal.press('a')
    expect(await answerTo(request)).toEqual({ kind: 'allow', note: 'only once' })
  })

  it('is edited in the editor with e, shown again, and runs as edited', async () => {
    const request = await asked(approval(), '[a] Allow')
    terminal.press('e')
    await terminal.sees('Changed by you')
    expect(terminal.text()).toContain('npm run edited')
    expect(readFileSync(saw, 'utf8')).toContain(`npm run job${count}`)
    terminal.press('a')
    expect(await answerTo(request)).toEqual({ kind: 'allow', input: { command: 'npm run edited' } })
  })

  it('that cannot be edited says so', async () => {
    const request = await asked(approval({ editable: false }), '[a] Allow')
    terminal.press('e')
    await terminal.sees('it cannot be edited')
    terminal.press('r')
    await scene.resolved(request)
  })

  it('is not decided by Enter, by another key, by a paste or by type-ahead: it hints and stays', async () => {
    terminal.press('a', 'a', 'a')
    const request = await asked(approval(), '[a] Allow')
    for (const wrong of [keys.enter, 'y', 'aa', '\u001b[200~a\u001b[201~', 'ok\r', 'a\r', '\u001ba', 'Really?\r']) {
      terminal.press(wrong)
      await terminal.sees('Press a to allow or r to reject.')
      expect((await scene.now(request)).status).toBe('pending')
      terminal.press(keys.home)
      await terminal.seesNot('Press a to allow')
    }
    terminal.press('r')
    await scene.resolved(request)
  })

  it('that the agent’s program warns of takes the whole word', async () => {
    const request = await asked(approval({ caution: { defaultToNo: true, reason: 'deletes things' } }), '[a] Allow')
    terminal.press('a')
    await terminal.sees('type allow')
    terminal.press(keys.enter)
    await terminal.sees('the whole word')
    await terminal.type('yes')
    terminal.press(keys.enter)
    await terminal.until(() => terminal.text().includes('the whole word') && !terminal.text().includes('yes▏'))
    expect((await scene.now(request)).status).toBe('pending')
    await terminal.type('allow')
    terminal.press(keys.enter)
    expect(await answerTo(request)).toEqual({ kind: 'allow' })
  })

  it('is allowed for longer with s, by the number of what the agent offers; Esc goes back', async () => {
    const offers = approval({ suggestions })
    const request = await asked(offers, '[a] Allow')
    terminal.press('s')
    await terminal.sees('1  Allow Bash(npm run:*)  session')
    await terminal.sees('2  Go on in mode acceptEdits  localSettings')
    terminal.press(keys.enter)
    await terminal.sees('Choose one by its number')
    terminal.press(keys.escape)
    await terminal.sees('[a] Allow')
    expect((await scene.now(request)).status).toBe('pending')
    terminal.press('s')
    await terminal.sees('Enter allows and remembers')
    terminal.press('2')
    await terminal.sees('› 2  Go on in mode')
    terminal.press(keys.enter)
    expect(await answerTo(request)).toEqual({ kind: 'allow', suggestion: '1:localSettings' })
  })

  it('is never allowed for longer where the request forbids it, nor by Enter alone where it is warned of', async () => {
    const forbidden = await asked(approval({ suggestions, caution: { noRemember: true } }), '[a] Allow')
    expect(terminal.text()).not.toContain('always')
    terminal.press('s')
    await terminal.sees('offers nothing to remember')
    terminal.press('r')
    await scene.resolved(forbidden)
    const warned = await asked(approval({ suggestions, caution: { defaultToNo: true } }), '[a] Allow')
    terminal.press('s')
    await terminal.sees('1  Allow Bash(npm run:*)')
    terminal.press('1')
    await terminal.sees('› 1  Allow Bash')
    terminal.press(keys.enter)
    await terminal.sees('type allow')
    expect(terminal.text()).toContain('And from now on: Allow Bash(npm run:*) (session)')
    expect((await scene.now(warned)).status).toBe('pending')
    await terminal.type('allow')
    terminal.press(keys.enter)
    expect(await answerTo(warned)).toEqual({ kind: 'allow', suggestion: '0:session' })
  })

  it('comes one after the other with a count, under the agents that ask', async () => {
    const [first, second] = [
      await scene.ask(session, approval(), ['reviewer']),
      await scene.ask(session, approval(), ['reviewer', 'linter']),
    ]
    await terminal.sees('Run a command  request 1 of 2 › reviewer')
    await terminal.sees('[a] Allow')
    terminal.press('a')
    await terminal.sees('› reviewer › linter')
    await terminal.sees('[a] Allow')
    terminal.press('r')
    expect([await answerTo(first), await answerTo(second)]).toEqual([allowed, denied])
  })

  it('answered elsewhere closes and says by whom', async () => {
    const request = await asked(approval(), '[a] Allow')
    const { secret } = await scene.call('addToken', { role: 'person', name: 'ana' })
    await scene.gateway.callAs(secret)('answerRequest', {
      id: request.id,
      digest: request.digest,
      answer: { kind: 'deny', reason: 'not today' },
    })
    await terminal.sees(/denied by ana.*: not today/)
    expect(terminal.text()).not.toContain('[a] Allow')
  })

  it('longer than the screen is paged, and not allowed before its end was shown', async () => {
    const lines = Array.from({ length: 90 }, (_, index) => `row ${index}`)
    const input = {
      file_path: '/srv/app/long.txt',
      old_string: lines.join('\n'),
      new_string: lines.map(line => `${line}!`).join('\n'),
    }
    const request = await asked(approval({ tool: 'Edit', input }), '[a] Allow (after the end)')
    terminal.press('a')
    await terminal.sees('Not all of it has been shown yet')
    terminal.press(keys.end)
    await terminal.sees('Agent says')
    await terminal.seesNot('Not all of it')
    // Its end alone is not all of it.
    terminal.press('a')
    await terminal.sees('Not all of it has been shown yet')
    expect((await scene.now(request)).status).toBe('pending')
    terminal.press(keys.home)
    await terminal.sees('lines 1–')
    const seen = new Set<string>()
    // It is drawn from the top down: once this line has changed, what stands above it has.
    const range = () => /lines (\d+)–(\d+) of (\d+)/.exec(terminal.text())?.slice(1).map(Number) ?? [0, 0, 0]
    const go = async (key: string) => {
      const [before] = range()
      terminal.press(key)
      await terminal.until(() => range()[0] !== before)
      for (const line of terminal.lines()) seen.add(/│ ([-+] row \d+!?)$/.exec(line)?.[1] ?? '')
    }
    for (const key of [keys.down, keys.up, keys.pageDown, keys.pageUp, keys.down, keys.up]) await go(key)
    for (let [, end, all] = range(); end !== all; [, end, all] = range()) await go(' ')
    for (const line of lines) expect([...seen]).toEqual(expect.arrayContaining([`- ${line}`, `+ ${line}!`]))
    terminal.press('a')
    expect(await answerTo(request)).toEqual(allowed)
  })

  it('in wide characters is shown to its last one before it can be allowed', async () => {
    const command = `echo ${'サーバー・'.repeat(30)} && rm -rf /END`
    const request = await asked(approval({ input: { command } }), '[a] Allow')
    const shown = terminal.lines().flatMap(line => /^ {2}[│┊] (.*)$/.exec(line)?.[1] ?? [])
    expect(shown.join('').replaceAll(' ', '')).toBe(command.replaceAll(' ', ''))
    terminal.press('r')
    await scene.resolved(request)
  })

  it('cannot be allowed on a screen that is too small to show it', async () => {
    const request = await asked(approval(), '[a] Allow')
    terminal.resize(80, 4)
    await terminal.sees('Too small a screen')
    terminal.press(' ', 'a')
    terminal.resize(80, 24)
    await terminal.sees('[a] Allow')
    expect((await scene.now(request)).status).toBe('pending')
    terminal.press('r')
    await scene.resolved(request)
  })

  it('is rejected by Ctrl+C within a paste that does not end', async () => {
    const request = await asked(approval(), '[a] Allow')
    terminal.press('\u001b[200~half')
    // Nothing tells that it was read: a Ctrl+C that comes in one go with it is part of the paste, the next one is not.
    for (let now = request; now.status === 'pending'; ) {
      terminal.press(keys.ctrlC)
      now = await scene.call('getRequest', { id: request.id, wait: 500 })
    }
    expect(await answerTo(request)).toEqual(denied)
  })
})

describe('a plan', () => {
  const plan = (): Ask =>
    approval({ tool: 'ExitPlanMode', input: { plan: '1. Look\n2. Leap' }, plan: '1. Look\n2. Leap' })
  beforeAll(atOneTerminal)

  it('is shown whole and approved', async () => {
    const request = await asked(plan(), '[a] Approve  [r] Keep planning')
    expect(terminal.text()).toContain('│ 2. Leap')
    terminal.press('a')
    expect(await answerTo(request)).toEqual({ kind: 'allow' })
  })
  it('is set for reading, behind the bar, as it was written', async () => {
    const text = [
      '# The way',
      '',
      `1. Look ${'twice '.repeat(16)}`,
      '',
      '```sh',
      'make',
      '```',
      '> mind **the** gap',
    ].join('\n')
    const ask = approval({ tool: 'ExitPlanMode', input: { plan: text }, plan: text })
    const request = await asked(ask, '[a] Approve')
    await terminal.sees(/│ # The way\n/)
    await terminal.sees(/ {2}┊ {4}twice/)
    await terminal.sees(/│ ```sh\n {2}│ {3}make\n {2}│ ```\n {2}│ > mind \*\*the\*\* gap/)
    expect(terminal.raw).toContain('\u001b[1mThe way')
    terminal.press('r')
    await scene.resolved(request)
  })
  it('goes on being made with feedback', async () => {
    const request = await asked(plan(), '[a] Approve')
    terminal.press('R')
    await terminal.sees('Feedback ›')
    await terminal.type('look twice')
    terminal.press(keys.enter)
    expect(await answerTo(request)).toEqual({ kind: 'deny', reason: 'look twice' })
  })
  it('is edited before it is approved', async () => {
    const request = await asked(plan(), '[a] Approve')
    terminal.press('e')
    await terminal.sees('Changed by you')
    terminal.press('a')
    expect(await answerTo(request)).toEqual({ kind: 'allow', input: { plan: 'npm run edited' } })
  })
})

describe('a choice', () => {
  beforeAll(atOneTerminal)
  const chosen = (...labels: string[]) => ({ kind: 'answers', answers: [{ id: 'q', chosen: labels }] })

  it('is chosen with arrows and Enter, and nothing is before', async () => {
    const request = await asked(question(), 'Enter confirms')
    terminal.press(keys.enter)
    await terminal.sees('Choose one by its number')
    terminal.press(keys.down)
    await terminal.sees('› 1  Red')
    terminal.press(keys.down)
    await terminal.sees('› 2  Green')
    terminal.press(keys.up, keys.up)
    await terminal.sees('› 3  Blue')
    terminal.press(keys.enter)
    expect(await answerTo(request)).toEqual(chosen('Blue'))
  })
  it('is chosen with a digit and Enter; a digit that is none hints', async () => {
    const request = await asked(question(), 'Enter confirms')
    terminal.press('7')
    await terminal.sees('Choose by number')
    terminal.press('2')
    await terminal.sees('› 2  Green')
    terminal.press(keys.enter)
    expect(await answerTo(request)).toEqual(chosen('Green'))
    await terminal.sees('answered by you: Green')
  })
  it('takes several by space and by digits', async () => {
    const request = await asked(question({ multiSelect: true }), 'space marks')
    terminal.press(keys.enter)
    await terminal.sees('Mark one or more')
    terminal.press(keys.down)
    await terminal.sees('› 1')
    terminal.press(' ')
    await terminal.sees('[x] Red')
    terminal.press('3')
    await terminal.sees('[x] Blue')
    terminal.press('3')
    await terminal.sees('[ ] Blue')
    terminal.press('2')
    await terminal.sees('[x] Green')
    terminal.press(keys.enter)
    expect(await answerTo(request)).toEqual(chosen('Red', 'Green'))
  })
  it('takes another answer with o, where it may', async () => {
    const request = await asked(question({ allowOther: true }), 'o another answer')
    terminal.press('o')
    await terminal.sees('Answer ›')
    await terminal.type('Grey')
    terminal.press(keys.enter)
    expect(await answerTo(request)).toEqual({ kind: 'answers', answers: [{ id: 'q', chosen: [], other: 'Grey' }] })
  })
  it('that takes no other says so, and r rejects it', async () => {
    const request = await asked(question(), 'Enter confirms')
    terminal.press('o')
    await terminal.sees('no other answer')
    terminal.press('r')
    expect(await answerTo(request)).toEqual({ kind: 'decline' })
    await terminal.sees('declined by you')
  })
  it('of several questions goes through them in turn, and back', async () => {
    const base = {
      header: 'Head',
      options: [{ label: 'Yes' }, { label: 'No' }],
      multiSelect: false,
      allowOther: false,
      secret: false,
    }
    const ask: Ask = {
      kind: 'questions',
      questions: [
        { ...base, id: 'one', question: 'First?' },
        { ...base, id: 'two', question: 'Second?' },
        { ...base, id: 'three', question: 'Third?' },
      ],
    }
    const request = await asked(ask, 'Enter confirms')
    await terminal.sees('Question 1 of 3')
    terminal.press('1')
    await terminal.sees('› 1  Yes')
    terminal.press(keys.enter)
    await terminal.sees('Second?')
    terminal.press(keys.left)
    await terminal.sees('› 1  Yes')
    terminal.press(keys.enter)
    await terminal.sees('Second?')
    terminal.press('s')
    await terminal.sees('Third?')
    terminal.press('2')
    await terminal.sees('› 2  No')
    terminal.press(keys.enter)
    expect(await answerTo(request)).toEqual({
      kind: 'answers',
      answers: [
        { id: 'one', chosen: ['Yes'] },
        { id: 'three', chosen: ['No'] },
      ],
    })
  })
})

describe('a text', () => {
  beforeAll(atOneTerminal)
  const text = (more: Partial<Question> = {}): Ask => question({ options: [], allowOther: true, ...more })
  const said = (other: string) => ({ kind: 'answers', answers: [{ id: 'q', chosen: [], other }] })

  it('is a line; empty asks again; a plain r is an answer', async () => {
    const request = await asked(text(), '/reject rejects')
    terminal.press(keys.enter)
    await terminal.sees('An empty answer is none')
    expect((await scene.now(request)).status).toBe('pending')
    await terminal.type('r')
    terminal.press(keys.enter)
    expect(await answerTo(request)).toEqual(said('r'))
  })
  it('is aborted by /reject', async () => {
    const request = await asked(text(), '/reject rejects')
    await terminal.type('/reject')
    terminal.press(keys.enter)
    expect(await answerTo(request)).toEqual({ kind: 'decline' })
  })
  it('comes from the editor with /edit', async () => {
    const request = await asked(text(), '/edit opens')
    await terminal.type('/edit')
    terminal.press(keys.enter)
    await terminal.sees('npm run edited▏')
    terminal.press(keys.enter)
    expect(await answerTo(request)).toEqual(said('npm run edited'))
  })
  it('is written with a line’s keys, and a paste keeps its lines', async () => {
    const request = await asked(text(), '/reject rejects')
    await terminal.type('abd')
    terminal.press(keys.left)
    await terminal.sees('ab▏d')
    terminal.press('c', keys.end)
    await terminal.sees('abcd▏')
    terminal.press(keys.backspace)
    await terminal.sees('abc▏')
    terminal.press('\u001b[200~ one\rtwo\u001b[201~')
    await terminal.sees('two▏')
    terminal.press(keys.enter)
    expect(await answerTo(request)).toEqual(said('abc one\ntwo'))
  })
  it('that is secret is masked, and reaches neither the screen nor a file', async () => {
    const request = await asked(text({ secret: true }), 'Secret ›')
    await terminal.sees('/reject rejects')
    await terminal.type('hunter2')
    await terminal.sees('•••••••▏')
    terminal.press(keys.enter)
    await scene.resolved(request)
    await terminal.sees('answered by you')
    expect(terminal.raw).not.toContain('hunter2')
  })
})

describe('a form', () => {
  beforeAll(atOneTerminal)
  const form: Ask = {
    kind: 'form',
    title: 'A card',
    message: 'For the parcel.',
    schema: {
      type: 'object',
      required: ['to', 'count'],
      properties: {
        to: { type: 'string', title: 'To' },
        mail: { type: 'string', title: 'E-mail', format: 'email' },
        count: { type: 'integer', title: 'Copies', minimum: 1, maximum: 9 },
        tone: { type: 'string', title: 'Tone', enum: ['warm', 'plain'] },
        gift: { type: 'boolean', title: 'Gift' },
        extras: { type: 'array', title: 'Extras', items: { enum: ['bow', 'card'] } },
      },
    },
  }
  it('is filled in field by field, each validated, and sent', async () => {
    const request = await asked(form, '› To')
    await terminal.sees('Enter next')
    terminal.press(keys.enter)
    await terminal.sees('"to" is required')
    await terminal.type('Ana')
    terminal.press(keys.enter)
    await terminal.sees('› E-mail')
    await terminal.type('ana')
    terminal.press(keys.enter)
    await terminal.sees('must be an e-mail address')
    await terminal.type('@example.org')
    terminal.press(keys.enter)
    await terminal.sees('› Copies')
    await terminal.type('many')
    terminal.press(keys.enter)
    await terminal.sees('must be a whole number')
    terminal.press('\u0015')
    await terminal.sees('› ▏')
    await terminal.type('12')
    terminal.press(keys.enter)
    await terminal.sees('must be at most 9')
    terminal.press(keys.backspace)
    await terminal.sees('› 1▏')
    terminal.press(keys.enter)
    await terminal.sees('› Tone')
    terminal.press('2')
    await terminal.sees('› 2  plain')
    terminal.press(keys.enter)
    await terminal.sees('› Gift')
    terminal.press('y')
    await terminal.sees('› 1  Yes')
    terminal.press(keys.enter)
    await terminal.sees('› Extras')
    terminal.press('1')
    await terminal.sees('[x] bow')
    terminal.press(keys.enter)
    await terminal.sees('[a] Send')
    expect((await scene.now(request)).status).toBe('pending')
    terminal.press(keys.enter)
    const values = { to: 'Ana', mail: 'ana@example.org', count: 1, tone: 'plain', gift: true, extras: ['bow'] }
    expect(await answerTo(request)).toEqual({ kind: 'submit', values })
  })
  it('is rejected with /reject where letters are text, and with r where they are not', async () => {
    const first = await asked(form, 'Enter next')
    await terminal.type('/reject')
    terminal.press(keys.enter)
    expect(await answerTo(first)).toEqual({ kind: 'decline' })
    const schema = { type: 'object' as const, properties: { gift: { type: 'boolean' as const } } }
    const second = await asked({ ...form, schema }, 'r rejects')
    terminal.press('r')
    expect(await answerTo(second)).toEqual({ kind: 'decline' })
  })
})

describe('Ctrl+C', () => {
  beforeAll(atOneTerminal)
  it('rejects what is asked, again interrupts the turn, and a third time leaves and says how to come back', async () => {
    const first = await asked(approval(), '[a] Allow')
    terminal.press(keys.ctrlC)
    expect(await answerTo(first)).toEqual({ kind: 'deny' })
    const second = await asked(approval(), '[a] Allow')
    terminal.press(keys.ctrlC)
    expect((await scene.resolved(second)).resolution).toMatchObject({ by: 'agent', reason: 'interrupted' })
    const third = await asked(approval(), '[a] Allow')
    terminal.press(keys.ctrlC)
    expect(await terminal.exit).toBe(0)
    expect(terminal.all()).toContain('1 request stays pending:')
    expect(terminal.all()).toContain(`holdpoint show ${third.id.slice(0, 10)}`)
    expect(terminal.all()).toContain(`holdpoint run --session ${session.id.slice(0, 10)}`)
    expect((await scene.now(third)).status).toBe('pending')
  })
})

describe('a session in the terminal', () => {
  beforeAll(atOneTerminal)

  it('keeps spinner and text away from a prompt, and prints what came meanwhile behind it', async () => {
    await terminal.sees('working')
    const request = await asked(approval(), '[a] Allow')
    expect(terminal.text()).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/)
    await scene.says(session, 'Said while you read.')
    terminal.press('?')
    await terminal.sees('Press a to allow')
    expect(terminal.text()).not.toContain('Said while you read.')
    terminal.press('a')
    await scene.resolved(request)
    await terminal.sees('Said while you read.')
  })

  it('shows text as it streams, and tools as short lines', async () => {
    const say = (offset: number, text: string) =>
      scene.call('appendEvents', { id: session.id, items: [{ type: 'message.delta', block: 'stream', offset, text }] })
    await say(0, 'Once upon ')
    await terminal.sees('Once upon')
    await say(10, 'a time')
    await terminal.sees('Once upon a time')
    const items = [
      { type: 'message.added' as const, block: 'stream', text: 'Once upon a time.' },
      { type: 'tool.started' as const, block: 't', tool: 'Grep', input: { pattern: 'needle' } },
      { type: 'tool.finished' as const, block: 't', ok: false, output: 'no hay' },
    ]
    await scene.call('appendEvents', { id: session.id, items })
    await terminal.sees(/▸ Grep {2}needle/)
    expect(terminal.all().match(/Once upon/g)).toHaveLength(1)
  })

  it('is drawn anew when the terminal changes its size', async () => {
    const request = await asked(approval({ input: { command: `echo ${'word '.repeat(40)}` } }), '[a] Allow')
    for (const [columns, rows] of [
      [60, 20],
      [120, 40],
      [80, 24],
    ] as const) {
      const before = terminal.raw.length
      terminal.resize(columns, rows)
      await terminal.until(() => terminal.raw.length > before && terminal.text().includes('[a] Allow'))
      expect(terminal.text().match(/● Run a command/g)).toHaveLength(1)
      for (const line of terminal.lines()) expect(line.length).toBeLessThanOrEqual(columns)
    }
    terminal.press('a')
    await scene.resolved(request)
  })

  it('is drawn again by Ctrl+L, and stops and goes on with Ctrl+Z as other programs do', async () => {
    const other = await scene.session('job')
    const request = await scene.ask(other, approval())
    const job = scene.run(other, { asJob: true })
    await job.sees('[a] Allow')
    let before = job.raw.length
    job.press(keys.ctrlL)
    await job.until(() => job.raw.slice(before).includes('[a] Allow'))
    job.press(keys.ctrlZ)
    await job.sees('stopped with 148')
    expect(job.text()).not.toContain('[a] Allow')
    before = job.raw.length
    job.press('\n')
    await job.until(() => job.raw.slice(before).includes('[a] Allow'))
    job.press('a')
    expect(await answerTo(request)).toEqual({ kind: 'allow' })
  })

  it('takes more from the person once the agent rests', async () => {
    await scene.rests(session)
    await terminal.sees('Enter says it')
    await terminal.type('and now?')
    terminal.press(keys.enter)
    await terminal.sees(/› and now\?\n/)
    const sent = (await scene.log(session)).flatMap(event => (event.type === 'command.added' ? [event.value.body] : []))
    expect(sent).toContainEqual({ kind: 'message', text: 'and now?' })
  })

  it('lets nobody answer with what they were writing when the agent asked', async () => {
    await terminal.sees('Enter says it')
    await terminal.type('b')
    const request = await scene.ask(session, approval())
    await terminal.sees('The agent asks something')
    await terminal.type('anana')
    await terminal.sees('banana▏')
    expect((await scene.now(request)).status).toBe('pending')
    terminal.press('\u0015')
    await terminal.sees('[a] Allow')
    terminal.press('r')
    await scene.resolved(request)
  })

  it('of an agent that ended says so and leaves', async () => {
    await scene.call('endSession', { id: session.id })
    expect(await terminal.exit).toBe(0)
    expect(terminal.all()).toContain('Session ended')
  })
})

describe('without a gateway', () => {
  it('run starts one of its own, plays the rehearsal in it, and keeps what waits for the next time', async () => {
    const home = mkdtempSync(join(tmpdir(), 'holdpoint-test-own-'))
    const first = new Terminal(['run', 'rehearsal', 'short', '--home', home])
    await first.sees('No gateway runs, so one runs here')
    await first.sees('[a] Allow')
    first.press(keys.ctrlC, keys.ctrlC, keys.ctrlC)
    expect(await first.exit).toBe(0)
    const id = /--session (ses_\w+)/.exec(first.all())?.[1] ?? ''
    const second = new Terminal(['run', '--session', id, '--home', home])
    await second.sees('Enter says it')
    await second.type('/end')
    second.press(keys.enter)
    expect(await second.exit).toBe(0)
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  })
})
