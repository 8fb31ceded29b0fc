/** Approvals and plans in `holdpoint run`, in a real pseudo-terminal. */
import type { Ask } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { approvalOf as approval, type SharedRun, shareRun } from './support/run-fixture.ts'
import type { SessionFixture } from './support/session-fixture.ts'
import { keys } from './support/terminal.ts'

let fixture: SessionFixture
let run: SharedRun
shareRun(opened => {
  fixture = opened.fixture
  run = opened.run
})

const suggestions = [
  { id: '0:session', label: 'Allow Bash(npm run:*)', scope: 'session' },
  { id: '1:localSettings', label: 'Go on in mode acceptEdits', scope: 'localSettings' },
]

describe('an approval in holdpoint run', () => {
  const allowed = { kind: 'allow' }
  const denied = { kind: 'deny' }

  it.each([
    ['a', allowed],
    ['1', allowed],
    ['r', denied],
    ['2', denied],
    ['x', { kind: 'deny', interrupt: true }],
  ])('a single press of %s on an approval in holdpoint run sends the answer %j', async (key, answer) => {
    const ask = approval()
    const request = await run.askAndWaitFor(ask, '[a] Allow  [r] Deny')
    expect(run.terminal.text()).toContain(String(ask.input.command))
    run.terminal.press(key)
    expect(await fixture.answerTo(request)).toEqual(answer)
    await run.terminal.waitForGone('[a] Allow')
  })

  it('an approval in holdpoint run is denied with the reason typed after the key R; an empty reason shows a hint', async () => {
    const request = await run.askAndWaitFor(approval(), '[a] Allow')
    run.terminal.press('R')
    await run.terminal.waitFor('Reason ›')
    run.terminal.press(keys.enter)
    await run.terminal.waitFor('Type a reason')
    await run.terminal.type('ask ana first')
    run.terminal.press(keys.enter)
    expect(await fixture.answerTo(request)).toEqual({ kind: 'deny', reason: 'ask ana first' })
    await run.terminal.waitFor('denied by you: ask ana first')
  })

  it('an approval in holdpoint run is allowed with the note typed after the key n', async () => {
    const request = await run.askAndWaitFor(approval(), '[a] Allow')
    run.terminal.press('n')
    await run.terminal.waitFor('Note ›')
    await run.terminal.type('only once')
    run.terminal.press(keys.enter)
    await run.terminal.waitFor('With your note: only once')
    await run.terminal.waitFor('[a] Allow')
    run.terminal.press('a')
    expect(await fixture.answerTo(request)).toEqual({ kind: 'allow', note: 'only once' })
  })

  it('an approval in holdpoint run is edited after the key e, shown again, and allowed with the edited input', async () => {
    const ask = approval()
    const request = await run.askAndWaitFor(ask, '[a] Allow')
    run.terminal.press('e')
    await run.terminal.waitFor('Changed by you')
    expect(run.terminal.text()).toContain('npm run edited')
    expect(run.editorInput()).toContain(String(ask.input.command))
    await run.terminal.waitFor('[a] Allow  [r] Deny')
    run.terminal.press('a')
    expect(await fixture.answerTo(request)).toEqual({ kind: 'allow', input: { command: 'npm run edited' } })
  })

  it('an approval in holdpoint run shows the risk of the edited text, which decides whether one key allows it', async () => {
    const request = await run.askAndWaitFor(approval({ input: { command: 'git push --force' } }), '[a] Allow…')
    expect(run.terminal.text()).toMatch(/Risk +▲ Dangerous/)
    run.terminal.press('e')
    await run.terminal.waitFor('[a] Allow  [r] Deny')
    expect(run.terminal.text()).toMatch(/Risk +△ Notable/)
    run.terminal.press('a')
    expect(await fixture.answerTo(request)).toEqual({ kind: 'allow', input: { command: 'npm run edited' } })
  })

  it('an approval in holdpoint run shows a hint after the key e if the request is not editable', async () => {
    const request = await run.askAndWaitFor(approval({ editable: false }), '[a] Allow')
    run.terminal.press('e')
    await run.terminal.waitFor('This request cannot be edited')
    await run.terminal.pause()
    run.terminal.press('r')
    await fixture.waitForResolved(request)
  })

  it('an approval in holdpoint run stays pending and shows a hint after Enter, an unknown key, a paste or type-ahead', async () => {
    const request = await run.askAndWaitFor(approval(), '[a] Allow')
    for (const wrong of [keys.enter, 'y', 'aa', '\u001b[200~a\u001b[201~', 'ok\r', 'a\r', 'Really?\r']) {
      await run.terminal.waitFor('[a] Allow')
      run.terminal.press(wrong)
      await run.terminal.waitFor('Press a to allow or r to deny.')
      await run.terminal.waitFor('Typing is ignored here.')
      expect((await fixture.getRequest(request)).status).toBe('pending')
      run.terminal.press(keys.home)
      await run.terminal.waitForGone('Press a to allow')
    }
    await run.terminal.waitFor('[a] Allow')
    run.terminal.press('r')
    await fixture.waitForResolved(request)
  })

  it('an approval in holdpoint run stays pending if another key follows the key a, and the screen says why', async () => {
    const request = await run.askAndWaitFor(approval(), '[a] Allow')
    run.terminal.press('a')
    await run.terminal.waitFor('Allowing… Esc cancels.')
    run.terminal.press('r')
    await run.terminal.waitFor('Nothing was sent, because another key followed.')
    await run.terminal.waitFor('[a] Allow')
    run.terminal.press('a')
    await run.terminal.waitFor('Allowing… Esc cancels.')
    run.terminal.press(keys.escape)
    await run.terminal.waitFor('Nothing was sent')
    expect((await fixture.getRequest(request)).status).toBe('pending')
    await run.terminal.pause()
    run.terminal.press('r')
    await fixture.waitForResolved(request)
  })

  it('an approval in holdpoint run is allowed only by typing the word "allow" if the agent flagged it as dangerous', async () => {
    const request = await run.askAndWaitFor(
      approval({ caution: { defaultToNo: true, reason: 'deletes things' } }),
      '[a] Allow',
    )
    run.terminal.press('a')
    await run.terminal.waitFor('Type "allow"')
    run.terminal.press(keys.enter)
    await run.terminal.waitFor('the whole word')
    await run.terminal.type('yes')
    run.terminal.press(keys.enter)
    await run.terminal.waitUntil(
      () => run.terminal.text().includes('the whole word') && !run.terminal.text().includes('yes▏'),
    )
    expect((await fixture.getRequest(request)).status).toBe('pending')
    await run.terminal.type('allow')
    run.terminal.press(keys.enter)
    expect(await fixture.answerTo(request)).toEqual({ kind: 'allow' })
  })

  it('an approval in holdpoint run is allowed with a suggestion after the key s and the number of the suggestion; Esc goes back', async () => {
    const offers = approval({ suggestions })
    const request = await run.askAndWaitFor(offers, '[a] Allow')
    run.terminal.press('s')
    await run.terminal.waitFor('1  Allow Bash(npm run:*)  this session')
    await run.terminal.waitFor('2  Go on in mode acceptEdits  this project, only you')
    await run.terminal.pause()
    run.terminal.press(keys.enter)
    await run.terminal.waitFor('Choose one by its number')
    run.terminal.press(keys.escape)
    await run.terminal.waitFor('[a] Allow')
    expect((await fixture.getRequest(request)).status).toBe('pending')
    await run.terminal.pause()
    run.terminal.press('s')
    await run.terminal.waitFor('Enter allow and remember')
    await run.terminal.pause()
    run.terminal.press('2')
    await run.terminal.waitFor('› 2  Go on in mode')
    await run.terminal.pause()
    run.terminal.press(keys.enter)
    expect(await fixture.answerTo(request)).toEqual({ kind: 'allow', suggestion: '1:localSettings' })
  })

  it('an approval in holdpoint run is allowed with a rule for a chosen duration after the key s', async () => {
    const request = await run.askAndWaitFor(approval({ input: { command: 'make check' } }), '[a] Allow')
    expect(run.terminal.text()).toContain('Notable: runs project code')
    run.terminal.press('s')
    await run.terminal.waitFor('1  Allow make check')
    await run.terminal.pause()
    run.terminal.press('1')
    await run.terminal.waitFor('› 1  Allow make check')
    run.terminal.press(keys.enter)
    await run.terminal.waitFor('For how long?')
    run.terminal.press('2')
    await run.terminal.waitFor('› 2  Until this session ends')
    await run.terminal.pause()
    run.terminal.press(keys.enter)
    expect(await fixture.answerTo(request)).toMatchObject({
      kind: 'allow',
      remember: { command: 'make check', until: 'session', scope: { session: run.session.id } },
    })
  })

  it('an approval in holdpoint run offers no suggestion if remembering is forbidden; a dangerous request needs the word "allow" even with a suggestion', async () => {
    const forbidden = await run.askAndWaitFor(approval({ suggestions, caution: { noRemember: true } }), '[a] Allow')
    expect(run.terminal.text()).not.toContain('always')
    run.terminal.press('s')
    await run.terminal.waitFor('does not let this answer be remembered')
    await run.terminal.pause()
    run.terminal.press('r')
    await fixture.waitForResolved(forbidden)
    const warned = await run.askAndWaitFor(approval({ suggestions, caution: { defaultToNo: true } }), '[a] Allow')
    run.terminal.press('s')
    await run.terminal.waitFor('1  Allow Bash(npm run:*)')
    await run.terminal.pause()
    run.terminal.press('1')
    await run.terminal.waitFor('› 1  Allow Bash')
    run.terminal.press(keys.enter)
    await run.terminal.waitFor('Type "allow"')
    expect(run.terminal.text()).toContain('Also allowed from now on: Allow Bash(npm run:*) (this session)')
    expect((await fixture.getRequest(warned)).status).toBe('pending')
    await run.terminal.type('allow')
    run.terminal.press(keys.enter)
    expect(await fixture.answerTo(warned)).toEqual({ kind: 'allow', suggestion: '0:session' })
  })

  it('an approval in holdpoint run shows its position among several requests and the path of the subagent that asked', async () => {
    const [first, second] = [
      await fixture.ask(run.session, approval(), ['reviewer']),
      await fixture.ask(run.session, approval(), ['reviewer', 'linter']),
    ]
    await run.terminal.waitFor('Run a command  request 1 of 2 › reviewer')
    await run.terminal.waitFor('[a] Allow')
    run.terminal.press('a')
    await run.terminal.waitFor('› reviewer › linter')
    await run.terminal.waitFor('[a] Allow')
    run.terminal.press('r')
    expect([await fixture.answerTo(first), await fixture.answerTo(second)]).toEqual([allowed, denied])
  })

  it('an approval in holdpoint run closes when the request is answered elsewhere, and shows who answered', async () => {
    const request = await run.askAndWaitFor(approval(), '[a] Allow')
    const { secret } = await fixture.call('addToken', { role: 'person', name: 'ana' })
    await fixture.gateway.callAs(secret)('answerRequest', {
      id: request.id,
      digest: request.digest,
      answer: { kind: 'deny', reason: 'not today' },
    })
    await run.terminal.waitFor(/denied by ana.*: not today/)
    expect(run.terminal.text()).not.toContain('[a] Allow')
  })

  it('a long approval in holdpoint run is split into pages, and cannot be allowed before every page was shown', async () => {
    const lines = Array.from({ length: 90 }, (_, index) => `row ${index}`)
    const input = {
      file_path: '/srv/app/long.txt',
      old_string: lines.join('\n'),
      new_string: lines.map(line => `${line}!`).join('\n'),
    }
    const request = await run.askAndWaitFor(approval({ tool: 'Edit', input }), '[a] Allow (read it all first)')
    run.terminal.press('a')
    await run.terminal.waitFor('You haven’t seen the whole request yet')
    run.terminal.press(keys.end)
    await run.terminal.waitFor('Agent says')
    await run.terminal.waitForGone('You haven’t seen the whole request')
    // Jumping to the end does not count as reading everything.
    run.terminal.press('a')
    await run.terminal.waitFor('You haven’t seen the whole request yet')
    expect((await fixture.getRequest(request)).status).toBe('pending')
    run.terminal.press(keys.home)
    await run.terminal.waitFor('lines 1–')
    const seen = new Set<string>()
    // Frames are drawn from the top down: once the line with these numbers has changed, the body above it has too.
    const range = () => /lines (\d+)–(\d+) of (\d+)/.exec(run.terminal.text())?.slice(1).map(Number) ?? [0, 0, 0]
    const go = async (key: string) => {
      const [before] = range()
      run.terminal.press(key)
      await run.terminal.waitUntil(() => range()[0] !== before)
      for (const line of run.terminal.lines()) seen.add(/│ +\d* ([-+] row \d+!?)$/.exec(line)?.[1] ?? '')
    }
    for (const key of [keys.down, keys.up, keys.pageDown, keys.pageUp, keys.down, keys.up]) await go(key)
    for (let [, end, all] = range(); end !== all; [, end, all] = range()) await go(' ')
    for (const line of lines) expect([...seen]).toEqual(expect.arrayContaining([`- ${line}`, `+ ${line}!`]))
    await run.terminal.pause()
    run.terminal.press('a')
    expect(await fixture.answerTo(request)).toEqual(allowed)
  })

  it('an approval with wide characters in holdpoint run cannot be allowed before its last character was shown', async () => {
    const command = `echo ${'サーバー・'.repeat(30)} && rm -rf /END`
    const request = await run.askAndWaitFor(approval({ input: { command } }), '[a] Allow')
    const shown = run.terminal.lines().flatMap(line => /^ {2}[│┊] (.*)$/.exec(line)?.[1] ?? [])
    expect(shown.join('').replaceAll(' ', '')).toBe(command.replaceAll(' ', ''))
    run.terminal.press('r')
    await fixture.waitForResolved(request)
  })

  it('an approval in holdpoint run cannot be allowed on a screen that is too small to show it', async () => {
    const request = await run.askAndWaitFor(approval(), '[a] Allow')
    run.terminal.resize(80, 4)
    await run.terminal.waitFor('Too small: enlarge')
    run.terminal.press(' ', 'a')
    run.terminal.resize(80, 24)
    await run.terminal.waitFor('[a] Allow')
    expect((await fixture.getRequest(request)).status).toBe('pending')
    run.terminal.press('r')
    await fixture.waitForResolved(request)
  })

  it('an approval in holdpoint run is denied by Ctrl+C during a paste without an end marker, but not by the pasted keys', async () => {
    const request = await run.askAndWaitFor(approval(), '[a] Allow')
    run.terminal.press('\u001b[200~half')
    // A Ctrl+C that is read in the same chunk as the paste is pasted text, and the screen does not show when the paste was read. So press Ctrl+C until it counts as a key.
    let current = request
    while (current.status === 'pending') {
      run.terminal.press(keys.ctrlC)
      current = await fixture.call('getRequest', { id: request.id, wait: 1000 })
    }
    expect(current.resolution?.answer).toEqual({ kind: 'deny', interrupt: true })
  })
})

describe('a plan in holdpoint run', () => {
  const plan = (): Ask =>
    approval({ tool: 'ExitPlanMode', input: { plan: '1. Look\n2. Leap' }, plan: '1. Look\n2. Leap' })

  it('a plan in holdpoint run is shown in full and approved with the key a', async () => {
    const request = await run.askAndWaitFor(plan(), '[a] Approve  [r] Keep planning')
    expect(run.terminal.text()).toContain('│ 2. Leap')
    run.terminal.press('a')
    expect(await fixture.answerTo(request)).toEqual({ kind: 'allow' })
  })
  it('a plan in holdpoint run is formatted with a bar at its left, and no character is lost', async () => {
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
    const request = await run.askAndWaitFor(ask, '[a] Approve')
    await run.terminal.waitFor(/│ # The way\n/)
    await run.terminal.waitFor(/ {2}┊ {4}twice/)
    await run.terminal.waitFor(/│ ```sh\n {2}│ {3}make\n {2}│ ```\n {2}│ > mind \*\*the\*\* gap/)
    expect(run.terminal.raw).toContain('\u001b[1mThe way')
    run.terminal.press('r')
    await fixture.waitForResolved(request)
  })
  it('a plan in holdpoint run is denied with the feedback typed after the key R', async () => {
    const request = await run.askAndWaitFor(plan(), '[a] Approve')
    run.terminal.press('R')
    await run.terminal.waitFor('Feedback ›')
    await run.terminal.type('look twice')
    run.terminal.press(keys.enter)
    expect(await fixture.answerTo(request)).toEqual({ kind: 'deny', reason: 'look twice' })
  })
  it('a plan in holdpoint run is edited after the key e and approved with the edited text', async () => {
    const request = await run.askAndWaitFor(plan(), '[a] Approve')
    run.terminal.press('e')
    await run.terminal.waitFor('Changed by you')
    await run.terminal.waitFor('[a] Approve')
    run.terminal.press('a')
    expect(await fixture.answerTo(request)).toEqual({ kind: 'allow', input: { plan: 'npm run edited' } })
  })
})
