import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type ApprovalAsk, type JsonObject, Request, type Session } from '@holdpoint/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  cleanEnvironment,
  closeGateways,
  type GatewayProcess,
  shortPause,
  startGateway,
} from '../../../test/support/gateway.ts'
import { runCli, runCliAgainst } from './support/cli-process.ts'
import {
  approvalAsk,
  askAsExternalAgent,
  rehearse,
  waitForLastMessage,
  waitForResolution,
} from './support/gateway-fixture.ts'

let gateway: GatewayProcess
beforeAll(async () => {
  gateway = await startGateway({ runner: 'inline' })
})
afterAll(closeGateways)
const cli = (...words: string[]) => runCliAgainst(gateway, words)
const json = async (...words: string[]) => JSON.parse((await cli(...words, '--json')).out)

describe('holdpoint inbox', () => {
  it('holdpoint inbox says that there are no pending requests, and lists a request once it is pending', async () => {
    const empty = await startGateway({ runner: 'none' })
    expect(await runCliAgainst(empty, ['inbox'])).toEqual({
      code: 0,
      out: '',
      err: 'No pending requests.\n',
    })
    const { request, session } = await rehearse(gateway, 'approval')
    const { code, out } = await cli('inbox')
    expect(code).toBe(0)
    const line = out.split('\n').find(text => text.startsWith(request.id.slice(0, 10)))
    expect(line).toMatch(/now\s+approval\s+Notable\s+Run a command\s+echo "Hello/)
    const listed = await json('inbox')
    expect(listed.next).toBeNull()
    expect(listed.items.map((item: unknown) => Request.parse(item).id)).toContain(request.id)
    const other = await askAsExternalAgent(gateway, approvalAsk({ command: 'true' }))
    const only = await json('inbox', '--session', session.id.slice(0, 9))
    expect(only.items.map((item: Request) => item.id)).toEqual([request.id])
    expect((await cli('inbox', '--session', other.session)).out).toContain(other.id.slice(0, 10))
  })
})

describe('holdpoint show', () => {
  it('holdpoint show finds a request by a prefix of its id and shows it in full, with the outcome once it is resolved', async () => {
    const { request } = await rehearse(gateway, 'edit')
    const { code, out } = await cli('show', request.id.slice(4, 12).toUpperCase())
    expect(code).toBe(0)
    expect(out).toContain('Change a file')
    expect(out).toMatch(/^ {2}│ 1 - a quiet day$/m)
    expect(out).toMatch(/^ {2}│ 1 \+ a day for rehearsals$/m)
    expect(out).toContain(request.digest)
    expect(out).toContain(`holdpoint allow ${request.id}`)
    expect(await json('show', request.id)).toEqual(JSON.parse(JSON.stringify(request)))
    await cli('deny', request.id, '--reason', 'not today')
    await waitForResolution(gateway, request.id)
    const after = await cli('show', request.id.slice(0, 12))
    expect(after.code, 'a resolved request is found in the audit log').toBe(0)
    expect(after.out).toMatch(/denied by you via cli: not today/)
    expect(after.out).not.toContain('holdpoint allow')
  })

  it('holdpoint show shows a change of several files as one diff per file, and the rest of the input', async () => {
    const changes = [
      { path: '/srv/a.ts', kind: 'update', diff: '@@ -7 +7 @@ main()\n-old\n+new\n' },
      { path: '/srv/b.ts', old_string: '', new_string: 'first\nsecond' },
      { path: '/srv/c.ts', kind: 'delete', diff: 'gone' },
      { path: '/srv/d.ts', kind: 'update', move_path: '/srv/e.ts', diff: 'binary' },
    ]
    const input = { changes, grantRoot: '/work' }
    const { id } = await askAsExternalAgent(gateway, approvalAsk(input, { tool: 'apply_patch' }))
    const { out } = await cli('show', id)
    const wanted = [
      'In /srv/a.ts\n@@ -7 +7 @@ main()\n  │ 1 - old\n  │ 1 + new\n',
      'Full content of /srv/b.ts\n  │ 1 + first\n  │ 2 + second\n',
      'Deletes /srv/c.ts\n  │ 1 - gone\n',
      'Moves /srv/d.ts to /srv/e.ts\n  │ binary\n',
      '{"grantRoot":"/work"}',
    ]
    for (const text of wanted) expect(out).toContain(text)
    await cli('deny', id, '--comment', 'a.ts:1=Why?', '--comment', 'b.ts:2=No.')
    expect((await waitForResolution(gateway, id)).resolution?.answer).toEqual({
      kind: 'deny',
      comments: [
        { path: '/srv/a.ts', line: 1, side: 'after', quote: 'new', text: 'Why?' },
        { path: '/srv/b.ts', line: 2, quote: 'second', text: 'No.' },
      ],
    })
  })

  it.each(['questions', 'form', 'plan', 'text'] as const)(
    'holdpoint show shows everything that a person needs to answer the rehearsal request "%s"',
    async part => {
      const { request } = await rehearse(gateway, part)
      const { out } = await cli('show', request.id)
      const wanted = {
        questions: ['1. Language', 'French', 'Bonjour.', 'choose any that apply', '--choose checks=…'],
        form: [
          'to  text, required',
          'paper  one of a5 (Small), a4 (Large)',
          'extras  any of ribbon, seal, photo',
          'default "warm"',
        ],
        plan: ['Approve a plan', '2. Translate it into **two** languages'],
        text: ['What should the greeting be called?', 'in your own words'],
      }[part]
      // The types of the fields are aligned in a column.
      const withoutColumns = out.replace(/ {2,}/g, '  ')
      for (const text of wanted) expect(withoutColumns).toContain(text)
    },
  )

  it('holdpoint show shows a session if the id starts with ses_', async () => {
    const { session } = await rehearse(gateway, 'approval')
    expect((await cli('show', session.id.slice(0, 10))).out).toMatch(/approval {2}waiting for you/)
    expect(await json('show', session.id)).toMatchObject({ id: session.id, driver: 'rehearsal' })
  })
})

describe('holdpoint show with a session id', () => {
  it('holdpoint show with a session id prints its repository, its waiting time, the files that its agent changed and the to-do list', async () => {
    const session = await gateway.call('startSession', { driver: 'external', title: 'worker' })
    const call = (block: string, tool: string, input: JsonObject) => [
      { type: 'tool.started' as const, tool, block, input },
      { type: 'tool.finished' as const, block, ok: true, output: 'ok' },
    ]
    const repository = { root: '/src/shop', branch: 'retry', commit: null }
    const todos = [
      { content: 'Read it', status: 'completed' },
      { content: 'Fix it', status: 'in_progress' },
    ]
    await gateway.call('appendEvents', {
      id: session.id,
      items: [
        { type: 'session.changed', repository },
        ...call('c1', 'Edit', { file_path: '/src/shop/a.ts', old_string: 'a', new_string: 'b\nc' }),
        ...call('c2', 'Write', { file_path: '/src/shop/b.ts', content: 'x' }),
        ...call('c3', 'TodoWrite', { todos }),
      ],
    })
    const key = { id: session.id, key: 'k', ask: approvalAsk({ command: 'make' }) }
    const { id, openedAt } = await gateway.call('openRequest', key)
    while ((await gateway.call('whoAmI', {})).now - openedAt < 1000) await shortPause()
    const { out } = await cli('show', session.id)
    expect(out).toMatch(/^Repository {2}\/src\/shop on retry$/m)
    expect(out).toMatch(/^Waited {6}\d+ s for people$/m)
    expect(out.slice(out.indexOf('Pending'))).toBe(
      [
        `Pending     ${id}  Run a command: make`,
        'Changed     2 files  +3 -1',
        '  /src/shop/a.ts  +2 -1',
        '  /src/shop/b.ts  +1 -0',
        'To-do list  1 of 2 done',
        '  ✓ Read it',
        '  ▸ Fix it',
        '',
      ].join('\n'),
    )
  })
})

describe('holdpoint allow', () => {
  it('holdpoint allow allows without a terminal only if --digest matches the request', async () => {
    const { request, session } = await rehearse(gateway, 'approval')
    const refused = await cli('allow', request.id)
    expect(refused.code).toBe(2)
    expect(refused.err).toMatch(/There is no terminal to confirm in.*holdpoint show req_/)
    const other = await cli('allow', request.id, '--digest', 'f'.repeat(64))
    expect(other).toMatchObject({ code: 2, err: expect.stringMatching(/digest does not match.*holdpoint show req_/) })
    expect(refused.err + other.err, 'an error does not reveal the digest').not.toContain(request.digest)
    expect((await reload(request)).status, 'the request stays pending').toBe('pending')
    const done = await cli('allow', request.id, '--digest', request.digest, '--note', 'be quick')
    expect(done).toMatchObject({ code: 0, out: expect.stringMatching(/ allowed by you via cli: be quick\n$/) })
    expect(await waitForLastMessage(gateway, session)).toContain('with the note “be quick”')
  })

  it('holdpoint allow makes the agent run exactly the input from --input, and refuses invalid input', async () => {
    const { request, session } = await rehearse(gateway, 'approval')
    const file = join(gateway.folder, 'input.json')
    writeFileSync(file, JSON.stringify({ command: 'echo edited by hand', description: 'mine' }))
    const done = await cli('allow', request.id, '--input', file, '--digest', request.digest, '--json')
    expect(JSON.parse(done.out)).toMatchObject({
      resolution: { answer: { input: { command: 'echo edited by hand' } } },
    })
    await waitForLastMessage(gateway, session)
    const events = (await gateway.call('listEvents', { id: session.id })).items
    expect(JSON.stringify(events)).toContain('edited by hand\\n')
    const bad = await rehearse(gateway, 'approval')
    writeFileSync(file, '{command}')
    expect(await cli('allow', bad.request.id, '--input', file, '--digest', bad.request.digest)).toMatchObject({
      code: 2,
      err: expect.stringContaining(`${file}: This is not valid JSON`),
    })
    writeFileSync(file, '[1]')
    expect(await cli('allow', bad.request.id, '--input', file, '--digest', bad.request.digest)).toMatchObject({
      code: 2,
      err: expect.stringMatching(/must contain the whole input as a JSON object/),
    })
    expect((await cli('allow', bad.request.id, '--input', join(gateway.folder, 'none.json'))).code).toBe(2)
  })

  it('holdpoint allow accepts a suggestion by its number with --always and refuses any other value', async () => {
    const suggestions = [
      { id: '2', label: 'Do not ask again', scope: 'session' },
      { id: 's2', label: 'Never ask again', scope: 'project' },
    ]
    const request = await askAsExternalAgent(gateway, approvalAsk({ command: 'make' }, { suggestions }))
    const { out } = await cli('show', request.id)
    expect(out).toMatch(/^Suggestions 1 {2}Do not ask again \(this session\)\n {12}2 {2}Never ask again \(project\)$/m)
    expect(out).toContain('--always NUMBER')
    for (const number of ['3', 's2']) {
      const refused = await cli('allow', request.id, '--digest', request.digest, '--always', number)
      expect(refused).toMatchObject({ code: 2, err: expect.stringMatching(/from 1 to 2/) })
    }
    const words = ['--digest', request.digest, '--always', '2']
    const taken = { kind: 'allow', suggestion: 's2' }
    expect((await json('allow', request.id, ...words)).resolution.answer).toEqual(taken)
  })

  it('holdpoint allow lists the rules that would allow a request from now on, and adds the chosen rule with --always', async () => {
    const cwd = gateway.folder
    const { id } = await gateway.call('startSession', { driver: 'external', title: 'project', cwd })
    const open = (key: string) =>
      gateway.call('openRequest', { id, key, ask: approvalAsk({ command: 'make check' }, { cwd }) })
    const [first, second] = [await open('first'), await open('second')]
    const shown = (await cli('show', first.id)).out
    expect(shown).toMatch(/^Risk +△ Notable: runs project code$/m)
    expect(shown).toMatch(/^Rules +1 {2}Allow make check$/m)
    expect(shown).toMatch(/exactly these arguments\. Runs project code/)
    for (const [words, problem] of [
      [['--for', '1h'], '--for works only with --always'],
      [['--always', '--for', 'soon'], '“soon” is not a duration'],
      [['--always', '9'], '--always takes a number from 1 to'],
    ] as const)
      expect(await cli('allow', first.id, '--digest', first.digest, ...words)).toMatchObject({
        code: 2,
        err: expect.stringContaining(problem),
      })
    const allowed = await json('allow', first.id, '--digest', first.digest, '--always', '--for', 'session')
    expect(allowed.resolution.answer).toMatchObject({
      kind: 'allow',
      remember: { command: 'make check', until: 'session', scope: { cwd, session: id } },
    })
    const other = await gateway.call('getRequest', { id: second.id, wait: 5000 })
    expect(other.resolution).toMatchObject({ by: 'rule', answer: { kind: 'allow' } })
    await gateway.call('endSession', { id })
  })

  it('holdpoint allow allows a plan with --mode if the mode is available, and otherwise lists the available modes', async () => {
    const { request, session } = await rehearse(gateway, 'plan')
    const into = (id: string, digest: string, mode: string) => cli('allow', id, '--digest', digest, '--mode', mode)
    const strange = await into(request.id, request.digest, 'wild')
    expect([strange.code, strange.err]).toEqual([2, expect.stringMatching(/"wild".*Available: default, acceptEdits/)])
    const done = await into(request.id, request.digest, 'acceptEdits')
    expect([done.code, done.out]).toEqual([
      0,
      expect.stringMatching(/ allowed by you via cli, continuing in mode acceptEdits\n$/),
    ])
    expect(await waitForLastMessage(gateway, session)).toContain('in mode acceptEdits')
    const plan = { plan: '# Plan', modes: ['careful'] }
    const named = await askAsExternalAgent(gateway, approvalAsk({ plan: '# Plan' }, plan))
    expect(
      (await into(named.id, named.digest, 'acceptEdits')).code,
      'the modes of the request override those of the driver',
    ).toBe(2)
    expect((await into(named.id, named.digest, 'careful')).code).toBe(0)
    for (const ask of [approvalAsk({ command: 'make' }), approvalAsk({ plan: '# Plan' }, { plan: '# Plan' })]) {
      const without = await askAsExternalAgent(gateway, ask)
      const { code, err } = await into(without.id, without.digest, 'default')
      expect([code, err]).toEqual([2, expect.stringMatching(/leave out --mode/)])
      expect((await reload(without)).status).toBe('pending')
    }
  })

  it('holdpoint allow refuses --always for a request whose answer must not be remembered', async () => {
    const suggestions = [{ id: 's1', label: 'Never ask again', scope: 'project' }]
    const ask = approvalAsk({ command: 'make' }, { suggestions, caution: { noRemember: true } })
    const request = await askAsExternalAgent(gateway, ask)
    expect((await cli('show', request.id)).out).not.toMatch(/Suggestions|--always/)
    const refused = await cli('allow', request.id, '--digest', request.digest, '--always', '1')
    expect(refused).toMatchObject({ code: 2, err: expect.stringMatching(/cannot be remembered/) })
    expect((await reload(request)).status).toBe('pending')
  })

  it('holdpoint allow exits with 4 if the request is already resolved, and says by whom and how', async () => {
    const { request } = await rehearse(gateway, 'approval')
    await cli('deny', request.id, '--reason', 'mine')
    for (const words of [
      ['allow', request.id],
      ['allow', request.id, '--digest', request.digest],
    ]) {
      const lost = await cli(...words)
      expect(lost).toMatchObject({ code: 4, out: '' })
      expect(lost.err).toMatch(/is already resolved: denied by owner via cli: mine/)
    }
    const lost = await cli('allow', request.id, '--digest', request.digest, '--json')
    expect([lost.code, JSON.parse(lost.out).resolution.answer]).toEqual([4, { kind: 'deny', reason: 'mine' }])
    expect((await cli('deny', request.id, '--reason', 'mine')).code, 'repeating the same answer is not an error').toBe(
      0,
    )
  })
})

describe('holdpoint deny', () => {
  it('holdpoint deny answers several requests, prints a line for each, and exits with the code of the first request that failed', async () => {
    const ask = (command: string) => askAsExternalAgent(gateway, approvalAsk({ command }))
    const [first, taken, last] = [await ask('one'), await ask('two'), await ask('three')]
    await gateway.call('answerRequest', { id: taken.id, digest: taken.digest, answer: { kind: 'allow' } })
    const done = await cli('deny', first.id, taken.id, last.id, first.id, '--reason', 'not today')
    expect(done).toMatchObject({
      code: 4,
      out: `${first.id} denied by you via cli: not today\n${last.id} denied by you via cli: not today\n`,
      err: expect.stringMatching(`^holdpoint: ${taken.id} is already resolved: allowed by owner via api\n$`),
    })
    expect((await reload(last)).resolution?.answer).toEqual({ kind: 'deny', reason: 'not today' })
    const asJson = await cli('deny', first.id, taken.id, '--reason', 'not today', '--json')
    expect([asJson.code, JSON.parse(asJson.out).items.map(({ status }: { status: number }) => status)]).toEqual([
      4,
      [200, 409],
    ])
  })
  it('holdpoint deny answers none of several requests if one of the ids matches no request', async () => {
    const request = await askAsExternalAgent(gateway, approvalAsk({ command: 'make' }))
    expect(await cli('deny', request.id, 'req_nobody')).toMatchObject({ code: 3, out: '' })
    expect((await reload(request)).status).toBe('pending')
  })
  it('holdpoint allow and deny refuse options for a single request if several ids are given', async () => {
    const requests = [
      await askAsExternalAgent(gateway, approvalAsk({ command: 'make' })),
      await askAsExternalAgent(gateway, approvalAsk({ command: 'make' })),
    ]
    const ids = requests.map(({ id }) => id)
    for (const words of [
      ['allow', ...ids, '--digest', 'd'],
      ['allow', ...ids, '--always'],
      ['deny', ...ids, '--comment', '1=x'],
    ])
      expect(await cli(...words)).toMatchObject({ code: 2, err: expect.stringContaining('only with a single request') })
    expect(await cli('allow', ...ids)).toMatchObject({ code: 2, err: expect.stringContaining('one request at a time') })
    for (const request of requests) expect((await reload(request)).status).toBe('pending')
  })
  it('holdpoint allow sends comments on lines together with the note', async () => {
    const request = await askAsExternalAgent(gateway, approvalAsk({ command: 'one\ntwo' }))
    const digest = ['--digest', request.digest]
    expect(await cli('allow', request.id, ...digest, '--comment', '3=x')).toMatchObject({ code: 2 })
    const done = await cli('allow', request.id, ...digest, '--note', 'fine', '--comment', '2=Why two?')
    expect(done).toMatchObject({ code: 0, out: expect.stringContaining('with 1 comment') })
    expect((await reload(request)).resolution?.answer).toMatchObject({
      kind: 'allow',
      note: 'fine',
      comments: [{ line: 2, quote: 'two', text: 'Why two?' }],
    })
  })
  it('holdpoint deny sends comments on lines, and show prints place, line and comment', async () => {
    const { request } = await rehearse(gateway, 'edit')
    const path = String((request.ask as ApprovalAsk).input.file_path)
    const refused = await cli('deny', request.id, '--comment', '99=too far')
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('has no line for "99=too far"')])
    const answer = (await json('deny', request.id, '--comment', `${basename(path)}:1=Keep it.`)).resolution.answer
    expect(answer).toMatchObject({ kind: 'deny', comments: [{ path, line: 1, side: 'after', text: 'Keep it.' }] })
    const { out } = await cli('show', request.id)
    expect(out).toContain('with 1 comment')
    expect(out).toContain(`${path}, line 1 of the new text`)
    expect(out).toContain(`> ${answer.comments[0].quote}`)
    expect(out).toContain('Keep it.')
  })
  it('holdpoint deny can ask back instead of denying, and show prints the question with the next request of the agent', async () => {
    const session = await gateway.call('startSession', { driver: 'external' })
    const open = (key: string) =>
      gateway.call('openRequest', { id: session.id, key, ask: approvalAsk({ command: 'ls' }) })
    const first = await open('first')
    expect((await cli('deny', first.id, '--ask', 'Why?', '--reason', 'no')).code).toBe(2)
    const { resolution } = await json('deny', first.id, '--ask', 'Why?')
    expect(resolution.answer).toEqual({ kind: 'deny', reason: 'Why?', askBack: true })
    expect((await cli('show', first.id)).out).toContain('asked back by you via cli: Why?')
    const second = await open('second')
    expect((await cli('show', second.id)).out).toMatch(
      new RegExp(`Follows +${first.id} +asked back by you via cli: Why`),
    )
  })
  it('holdpoint deny gives the agent the reason, and also ends the turn with --stop', async () => {
    const first = await rehearse(gateway, 'approval')
    expect((await cli('deny', first.request.id.slice(4), '--reason', 'too early')).code).toBe(0)
    expect(await waitForLastMessage(gateway, first.session)).toContain('too early')
    const second = await rehearse(gateway, 'approval')
    expect((await json('deny', second.request.id, '--stop')).resolution.answer).toEqual({
      kind: 'deny',
      interrupt: true,
    })
    const questions = await rehearse(gateway, 'questions')
    expect((await json('deny', questions.request.id)).resolution.answer).toEqual({ kind: 'decline' })
  })
})

describe('holdpoint answer', () => {
  const cases: [string, Parameters<typeof rehearse>[1], string[], object][] = [
    [
      'one label per question',
      'questions',
      ['--choose', 'language=French', '--choose', '2=Tone', '--choose', 'checks=1'],
      {
        kind: 'answers',
        answers: [
          { id: 'language', chosen: ['French'] },
          { id: 'checks', chosen: ['Tone', 'Spelling'] },
        ],
      },
    ],
    [
      'a label and a text',
      'questions',
      ['--choose', 'checks=tone', '--text', 'checks=a=b'],
      { kind: 'answers', answers: [{ id: 'checks', chosen: ['Tone'], other: 'a=b' }] },
    ],
    ['a text', 'text', ['--text', 'Sunrise'], { kind: 'answers', answers: [{ chosen: [], other: 'Sunrise' }] }],
    [
      'form fields, with defaults for the rest',
      'form',
      ['--set', 'to=Ana', '--set', 'count=3', '--set', 'stamped=no', '--set', 'extras=seal, photo'],
      { kind: 'submit', values: { to: 'Ana', count: 3, stamped: false, extras: ['seal', 'photo'], tone: 'warm' } },
    ],
    ['--decline', 'form', ['--decline', '--reason', 'no time'], { kind: 'decline', reason: 'no time' }],
  ]
  it.each(cases)(
    'holdpoint answer delivers the answer to the agent when given %s',
    async (_what, part, words, answer) => {
      const { request, session } = await rehearse(gateway, part)
      expect(await json('answer', request.id.slice(0, 14), ...words)).toMatchObject({ resolution: { answer } })
      await waitForLastMessage(gateway, session)
      expect((await reload(request)).delivery.state).toBe('taken')
    },
  )

  it('holdpoint answer accepts options before the id, and uses the whole text as the answer to a single question', async () => {
    const options = [{ label: 'yes' }, { label: 'answer=no' }]
    const only = { id: 'answer', header: '', question: 'Well?', options, multiSelect: false, secret: false }
    const cases: [string[], object][] = [
      [['--choose', 'yes'], { chosen: ['yes'] }],
      [['--choose', 'answer=no'], { chosen: ['answer=no'] }],
      [['--choose', '1'], { chosen: ['yes'] }],
      [['--text', 'answer=42'], { chosen: [], other: 'answer=42' }],
    ]
    for (const [words, expected] of cases) {
      const { id } = await askAsExternalAgent(gateway, {
        kind: 'questions',
        questions: [{ ...only, allowOther: true }],
      })
      const { code, out } = await cli('answer', '--json', ...words, id)
      expect([code, JSON.parse(out).resolution.answer.answers]).toEqual([0, [{ id: 'answer', ...expected }]])
    }
  })

  const questionsWithIds = (...ids: string[]) => ({
    kind: 'questions' as const,
    questions: ids.map(id => {
      const options = [{ label: 'yes' }, { label: 'no' }]
      return {
        id,
        header: `about ${id}`,
        question: `${id}?`,
        options,
        multiSelect: false,
        allowOther: true,
        secret: false,
      }
    }),
  })

  it('holdpoint answer refuses a question name that is the id of one question and the number of another', async () => {
    const request = await askAsExternalAgent(gateway, questionsWithIds('0', '1', '2'))
    for (const name of ['1', '2']) {
      const { code, err } = await cli('answer', request.id, '--choose', `${name}=yes`)
      expect([code, err]).toEqual([2, expect.stringMatching(/could be question 1:0 or question 2:1|2:1 or .* 3:2/)])
    }
    expect((await reload(request)).status).toBe('pending')
    const { out } = await cli('show', request.id)
    const names = [...out.matchAll(/--choose (\S+)=…/g)].map(([, name]) => name ?? '')
    expect(names, 'the names that show prints are accepted').toEqual(['0', '2:1', '3'])
    const words = names.flatMap((name, at) => ['--text', `${name}=for ${at}`])
    expect((await json('answer', request.id, ...words)).resolution.answer.answers).toEqual(
      ['0', '1', '2'].map((id, at) => ({ id, chosen: [], other: `for ${at}` })),
    )
  })

  it('holdpoint answer refuses an answer whose beginning matches two question ids, and accepts an id that equals its question’s number', async () => {
    const ambiguous = await askAsExternalAgent(gateway, questionsWithIds('a', 'a=b'))
    expect((await cli('answer', ambiguous.id, '--text', 'a=b=c')).err).toMatch(
      /could be question 1:a or question 2:a=b/,
    )
    const resolved = await json('answer', ambiguous.id, '--text', '1:a=b=c', '--text', '2=d')
    expect(resolved.resolution.answer.answers.map(({ other }: { other: string }) => other)).toEqual(['b=c', 'd'])
    const own = await askAsExternalAgent(gateway, questionsWithIds('1', '2'))
    expect((await json('answer', own.id, '--choose', '2=no')).resolution.answer.answers).toEqual([
      { id: '2', chosen: ['no'] },
    ])
  })

  it.each(['0x1', '1e0', ' 1', '+1', '1.0'])(
    'holdpoint answer does not accept "%s" as an option number',
    async typed => {
      const { id } = await askAsExternalAgent(gateway, questionsWithIds('one'))
      expect(await cli('answer', id, '--choose', typed)).toMatchObject({ code: 2, out: '' })
    },
  )

  it('holdpoint answer reads form values from a file and text from stdin', async () => {
    const form = await rehearse(gateway, 'form')
    const file = join(gateway.folder, 'values.json')
    writeFileSync(file, JSON.stringify({ to: 'Bo', count: 2 }))
    const done = await cli(
      'answer',
      form.request.id,
      '--values',
      file,
      '--set',
      'count=5',
      '--digest',
      form.request.digest,
    )
    expect(done).toMatchObject({ code: 0, out: expect.stringMatching(/submitted by you/) })
    expect(await waitForLastMessage(gateway, form.session)).toContain('to = "Bo"')
    const text = await rehearse(gateway, 'text')
    expect((await runCliAgainst(gateway, ['answer', text.request.id, '--text', '-'], 'from a pipe\n')).code).toBe(0)
    expect(await waitForLastMessage(gateway, text.session)).toContain('“from a pipe”')
  })

  it.each<[string, Parameters<typeof rehearse>[1], string[], RegExp]>([
    ['no answer is given', 'questions', [], /Give an answer.*language, checks/],
    [
      'the question is not named',
      'questions',
      ['--choose', 'French'],
      /Use QUESTION=… to say which one you are answering/,
    ],
    [
      'a label does not exist',
      'questions',
      ['--choose', 'language=Latin'],
      /"Latin" is not an option.*English, French, German/,
    ],
    [
      'two options are chosen but only one is accepted',
      'questions',
      ['--choose', 'language=French', '--choose', 'language=German'],
      /exactly one/,
    ],
    ['there is an extra argument', 'questions', ['--choose', 'checks=tone', 'checks=1'], /too many arguments/],
    ['a field does not exist', 'form', ['--set', 'colour=red'], /"colour" is not a field/],
    ['a field value has the wrong type', 'form', ['--set', 'to=x', '--set', 'count=many'], /"count" must be a number/],
    ['a field value is out of range', 'form', ['--set', 'to=x', '--set', 'count=12'], /"count" must be at most 9/],
    ['--choose is used for a form', 'form', ['--choose', 'x'], /is a form\. Use --set/],
    ['answer is used for an approval', 'approval', ['--choose', 'yes'], /holdpoint allow req_/],
    ['--reason is given without --decline', 'text', ['--reason', 'x'], /only with --decline/],
  ])('holdpoint answer exits with 2 and leaves the request pending if %s', async (_what, part, words, sentence) => {
    const { request } = await rehearse(gateway, part)
    const { code, out, err } = await cli('answer', request.id, ...words)
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(sentence)
    expect((await reload(request)).status).toBe('pending')
  })
})

describe('a shortened id', () => {
  it('a shortened id is refused with a list of candidates if several ids start with it, and reported as not found if none does', async () => {
    const { id } = await gateway.call('startSession', { driver: 'external' })
    const idsByStart = new Map<string, string[]>()
    // Ids use 32 different letters, so at least two of 33 requests start with the same letter.
    for (let n = 0; n < 33; n++) {
      const request = await gateway.call('openRequest', {
        id,
        key: `n${n}`,
        ask: approvalAsk({ command: `echo ${n}` }),
      })
      const first = request.id.slice(0, 5)
      idsByStart.set(first, [...(idsByStart.get(first) ?? []), request.id])
    }
    const [first, ids] = [...idsByStart].find(([, all]) => all.length > 1) as [string, string[]]
    const { code, err } = await cli('show', first)
    expect(code).toBe(2)
    expect(err).toMatch(new RegExp(`"${first}" could be .*type more letters`))
    if (ids.length <= 4) for (const named of ids) expect(err).toContain(named)
    await gateway.call('endSession', { id })
    for (const words of [
      ['show', 'req_iiii'],
      ['show', 'req_00000000000000000000'],
      ['deny', 'zzzzzzzzzz'],
      ['end', 'ses_0000000000'],
      ['show', 'ses_0000000000'],
    ])
      expect([words, (await cli(...words)).code]).toEqual([words, 3])
    expect((await cli('show', 'req_')).code).toBe(2)
  })
})

describe('holdpoint sessions', () => {
  it('holdpoint sessions lists sessions with pending requests first, and ended sessions only with --all or --state ended', async () => {
    const { session } = await rehearse(gateway, 'approval')
    const { id } = await gateway.call('startSession', { driver: 'external', title: 'ended one' })
    await gateway.call('endSession', { id })
    const { code, out } = await cli('sessions')
    expect(code).toBe(0)
    expect(out).toMatch(
      new RegExp(`^${session.id.slice(0, 10)}\\S*\\s+waiting for you\\s+now\\s+approval\\s+rehearsal\\s`, 'm'),
    )
    expect(out).not.toContain('ended one')
    const listed = await json('sessions', '--all', '--search', 'ended one')
    expect(listed.items.map((item: Session) => item.id)).toEqual([id])
    expect((await json('sessions', '--state', 'ended', '--limit', '1')).items.length).toBe(1)
    expect(await cli('sessions', '--search', 'no such thing')).toMatchObject({
      out: '',
      err: 'No matching sessions.\n',
    })
    expect((await cli('sessions', '--limit', '0')).code).toBe(2)
  })
})

describe('a gateway given by URL', () => {
  it('a gateway given by URL is called with HOLDPOINT_TOKEN and refuses a wrong token', async () => {
    const { url, token } = gateway
    const home = join(gateway.folder, 'elsewhere')
    const env = { ...cleanEnvironment(), HOLDPOINT_HOME: home, HOLDPOINT_URL: url, HOLDPOINT_TOKEN: token }
    expect((await runCli(['inbox', '--json'], { env })).code).toBe(0)
    const flags = ['inbox', '--url', url, '--home', home]
    expect((await runCli(flags, { env: { ...env, HOLDPOINT_URL: 'http://127.0.0.1:1' } })).code).toBe(0)
    expect(await runCli(flags, { env: { ...env, HOLDPOINT_TOKEN: 'hp_wrong' } })).toMatchObject({ code: 1 })
    const malformed = await runCli(flags, { env: { ...env, HOLDPOINT_TOKEN: `${token}\n${token}` } })
    expect([malformed.code, malformed.err]).toEqual([
      1,
      expect.stringMatching(/^holdpoint: HOLDPOINT_TOKEN contains .*not allowed in a token\n$/),
    ])
    const { code, err } = await runCli(flags, { env: { ...env, HOLDPOINT_TOKEN: '' } })
    expect([code, err]).toEqual([1, expect.stringMatching(/Set HOLDPOINT_TOKEN/)])
  })
})

describe('an empty list in a pipe', () => {
  it.each([
    ['vars', 'This session has no variables.'],
    ['watch list --session', 'No watcher applies to this session.'],
  ])(
    'holdpoint %s for a session with an empty list prints nothing on stdout and a message on stderr',
    async (command, sentence) => {
      const { id } = await gateway.call('startSession', { driver: 'external', title: 'bare' })
      expect(await cli(...command.split(' '), id)).toEqual({ code: 0, out: '', err: expect.stringContaining(sentence) })
    },
  )
})

describe('commands without a running gateway', () => {
  it.each([
    ['inbox'],
    ['sessions'],
    ['show', 'x'],
    ['allow', 'x'],
    ['deny', 'x'],
    ['answer', 'x'],
    ['send', 'x', 'y'],
    ['watch'],
    ['interrupt', 'x'],
    ['end', 'x'],
    ['mode', 'x', 'y'],
    ['model', 'x', 'y'],
    ['start', 'x'],
    ['ask', 'x'],
    ['guard', '--', 'true'],
  ])('holdpoint %s says that no gateway is running and exits with 5', async (...words) => {
    const { code, err } = await runCli(words, {
      env: { ...cleanEnvironment(), HOLDPOINT_HOME: join(gateway.folder, 'nobody') },
    })
    expect([code, err]).toEqual([5, expect.stringMatching(/No gateway .* holdpoint up/)])
  })
})

async function reload({ id }: Request): Promise<Request> {
  return gateway.call('getRequest', { id })
}
