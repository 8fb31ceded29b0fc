import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Request, type Session } from '@holdpoint/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways, type GatewayProcess, plainEnvironment, startGateway } from '../../../test/support/gateway.ts'
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
const hp = (...words: string[]) => runCliAgainst(gateway, words)
const json = async (...words: string[]) => JSON.parse((await hp(...words, '--json')).out)

describe('holdpoint inbox', () => {
  it('says that nothing waits, and then what does', async () => {
    const empty = await startGateway({ runner: 'none' })
    expect(await runCliAgainst(empty, ['inbox'])).toMatchObject({ code: 0, out: 'Nothing waits for you.\n' })
    const { request, session } = await rehearse(gateway, 'approval')
    const { code, out } = await hp('inbox')
    expect(code).toBe(0)
    const line = out.split('\n').find(text => text.startsWith(request.id.slice(0, 10)))
    expect(line).toMatch(/now\s+approval\s+Run a command\s+echo "Hello/)
    const listed = await json('inbox')
    expect(listed.next).toBeNull()
    expect(listed.items.map((item: unknown) => Request.parse(item).id)).toContain(request.id)
    const other = await askAsExternalAgent(gateway, approvalAsk({ command: 'true' }))
    const only = await json('inbox', '--session', session.id.slice(0, 9))
    expect(only.items.map((item: Request) => item.id)).toEqual([request.id])
    expect((await hp('inbox', '--session', other.session)).out).toContain(other.id.slice(0, 10))
  })
})

describe('holdpoint show', () => {
  it('shows a request whole, by any beginning of its id, and what became of it', async () => {
    const { request } = await rehearse(gateway, 'edit')
    const { code, out } = await hp('show', request.id.slice(4, 12).toUpperCase())
    expect(code).toBe(0)
    expect(out).toContain('Change a file')
    expect(out).toMatch(/^ {2}│ - a quiet day$/m)
    expect(out).toMatch(/^ {2}│ \+ a day for rehearsals$/m)
    expect(out).toContain(request.digest)
    expect(out).toContain(`holdpoint allow ${request.id}`)
    expect(await json('show', request.id)).toEqual(JSON.parse(JSON.stringify(request)))
    await hp('deny', request.id, '--reason', 'not today')
    await waitForResolution(gateway, request.id)
    const after = await hp('show', request.id.slice(0, 12))
    expect(after.code, 'the record knows it').toBe(0)
    expect(after.out).toMatch(/denied by you via cli: not today/)
    expect(after.out).not.toContain('holdpoint allow')
  })

  it.each(['questions', 'form', 'plan', 'text'] as const)('shows %s with all there is to choose', async part => {
    const { request } = await rehearse(gateway, part)
    const { out } = await hp('show', request.id)
    const wanted = {
      questions: ['1. Language', 'French', 'Bonjour.', 'several may be chosen', '--choose checks=…'],
      form: [
        'to  text, required',
        'paper  one of a5 (Small), a4 (Large)',
        'extras  some of ribbon, seal, photo',
        'default "warm"',
      ],
      plan: ['Approve a plan', '2. Translate it into **two** languages'],
      text: ['What shall the greeting be called?', 'in your own words'],
    }[part]
    for (const text of wanted) expect(out).toContain(text)
  })

  it('shows a session, too', async () => {
    const { session } = await rehearse(gateway, 'approval')
    expect((await hp('show', session.id.slice(0, 10))).out).toMatch(/approval {2}waiting for you/)
    expect(await json('show', session.id)).toMatchObject({ id: session.id, driver: 'rehearsal' })
  })
})

describe('holdpoint allow', () => {
  it('without a terminal, allows only what is named by its digest', async () => {
    const { request, session } = await rehearse(gateway, 'approval')
    const refused = await hp('allow', request.id)
    expect(refused.code).toBe(2)
    expect(refused.err).toMatch(/without a terminal.*holdpoint show req_/)
    const other = await hp('allow', request.id, '--digest', 'f'.repeat(64))
    expect(other).toMatchObject({ code: 2, err: expect.stringMatching(/is not what you read.*holdpoint show req_/) })
    expect(refused.err + other.err, 'a digest is read, not handed out').not.toContain(request.digest)
    expect((await settledNow(request)).status, 'it still waits').toBe('pending')
    const done = await hp('allow', request.id, '--digest', request.digest, '--note', 'be quick')
    expect(done).toMatchObject({ code: 0, out: `${request.id} allowed by you via cli: be quick\n` })
    expect(await waitForLastMessage(gateway, session)).toContain('with the note “be quick”')
  })

  it('runs what a person wrote instead, to the letter', async () => {
    const { request, session } = await rehearse(gateway, 'approval')
    const file = join(gateway.folder, 'input.json')
    writeFileSync(file, JSON.stringify({ command: 'echo edited by hand', description: 'mine' }))
    const done = await hp('allow', request.id, '--input', file, '--digest', request.digest, '--json')
    expect(JSON.parse(done.out)).toMatchObject({
      resolution: { answer: { input: { command: 'echo edited by hand' } } },
    })
    await waitForLastMessage(gateway, session)
    const said = (await gateway.call('listEvents', { id: session.id })).items
    expect(JSON.stringify(said)).toContain('edited by hand\\n')
    const bad = await rehearse(gateway, 'approval')
    writeFileSync(file, '{command}')
    expect(await hp('allow', bad.request.id, '--input', file, '--digest', bad.request.digest)).toMatchObject({
      code: 2,
      err: expect.stringContaining(`${file}: This is not valid JSON`),
    })
    writeFileSync(file, '[1]')
    expect(await hp('allow', bad.request.id, '--input', file, '--digest', bad.request.digest)).toMatchObject({
      code: 2,
      err: expect.stringMatching(/must hold the whole input as a JSON object/),
    })
    expect((await hp('allow', bad.request.id, '--input', join(gateway.folder, 'none.json'))).code).toBe(2)
  })

  it('takes what the agent offers by its number, and refuses what is not offered', async () => {
    const suggestions = [
      { id: '2', label: 'Do not ask again', scope: 'session' },
      { id: 's2', label: 'Never ask again', scope: 'project' },
    ]
    const request = await askAsExternalAgent(gateway, approvalAsk({ command: 'make' }, { suggestions }))
    const { out } = await hp('show', request.id)
    expect(out).toMatch(/^Offers {6}1 {2}Do not ask again \(session\)\n {12}2 {2}Never ask again \(project\)$/m)
    expect(out).toContain('--always NUMBER')
    for (const number of ['3', 's2']) {
      const refused = await hp('allow', request.id, '--digest', request.digest, '--always', number)
      expect(refused).toMatchObject({ code: 2, err: expect.stringMatching(/offers 1 to 2/) })
    }
    const words = ['--digest', request.digest, '--always', '2']
    const taken = { kind: 'allow', suggestion: 's2' }
    expect((await json('allow', request.id, ...words)).resolution.answer).toEqual(taken)
  })

  it('takes a mode to go on in for a plan, of those that there are, and says it', async () => {
    const { request, session } = await rehearse(gateway, 'plan')
    const into = (id: string, digest: string, mode: string) => hp('allow', id, '--digest', digest, '--mode', mode)
    const strange = await into(request.id, request.digest, 'wild')
    expect([strange.code, strange.err]).toEqual([2, expect.stringMatching(/"wild".*there is default, acceptEdits/)])
    const done = await into(request.id, request.digest, 'acceptEdits')
    expect([done.code, done.out]).toEqual([0, `${request.id} allowed by you via cli, continuing in mode acceptEdits\n`])
    expect(await waitForLastMessage(gateway, session)).toContain('in mode acceptEdits')
    const plan = { plan: '# Plan', modes: ['careful'] }
    const named = await askAsExternalAgent(gateway, approvalAsk({ plan: '# Plan' }, plan))
    expect((await into(named.id, named.digest, 'acceptEdits')).code, 'the request itself names them').toBe(2)
    expect((await into(named.id, named.digest, 'careful')).code).toBe(0)
    for (const ask of [approvalAsk({ command: 'make' }), approvalAsk({ plan: '# Plan' }, { plan: '# Plan' })]) {
      const without = await askAsExternalAgent(gateway, ask)
      const { code, err } = await into(without.id, without.digest, 'default')
      expect([code, err]).toEqual([2, expect.stringMatching(/leave --mode out/)])
      expect((await settledNow(without)).status).toBe('pending')
    }
  })

  it('takes no offer of a request that must not be remembered', async () => {
    const suggestions = [{ id: 's1', label: 'Never ask again', scope: 'project' }]
    const ask = approvalAsk({ command: 'make' }, { suggestions, caution: { noRemember: true } })
    const request = await askAsExternalAgent(gateway, ask)
    expect((await hp('show', request.id)).out).not.toMatch(/Offers|--always/)
    const refused = await hp('allow', request.id, '--digest', request.digest, '--always', '1')
    expect(refused).toMatchObject({ code: 2, err: expect.stringMatching(/offers nothing to remember/) })
    expect((await settledNow(request)).status).toBe('pending')
  })

  it('tells the loser of a race who won, and with what: exit code 4', async () => {
    const { request } = await rehearse(gateway, 'approval')
    await hp('deny', request.id, '--reason', 'mine')
    for (const words of [
      ['allow', request.id],
      ['allow', request.id, '--digest', request.digest],
    ]) {
      const lost = await hp(...words)
      expect(lost).toMatchObject({ code: 4, out: '' })
      expect(lost.err).toMatch(/was resolved before: denied by owner via cli: mine/)
    }
    const lost = await hp('allow', request.id, '--digest', request.digest, '--json')
    expect([lost.code, JSON.parse(lost.out).resolution.answer]).toEqual([4, { kind: 'deny', reason: 'mine' }])
    expect((await hp('deny', request.id, '--reason', 'mine')).code, 'the same again is no error').toBe(0)
  })
})

describe('holdpoint deny', () => {
  it('tells the agent why, and with --stop ends its turn', async () => {
    const first = await rehearse(gateway, 'approval')
    expect((await hp('deny', first.request.id.slice(4), '--reason', 'too early')).code).toBe(0)
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
      'labels, by question',
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
      'labels beside words of one’s own',
      'questions',
      ['--choose', 'checks=tone', '--text', 'checks=a=b'],
      { kind: 'answers', answers: [{ id: 'checks', chosen: ['Tone'], other: 'a=b' }] },
    ],
    [
      'words of one’s own',
      'text',
      ['--text', 'Sunrise'],
      { kind: 'answers', answers: [{ chosen: [], other: 'Sunrise' }] },
    ],
    [
      'fields of a form, with its defaults',
      'form',
      ['--set', 'to=Ana', '--set', 'count=3', '--set', 'stamped=no', '--set', 'extras=seal, photo'],
      { kind: 'submit', values: { to: 'Ana', count: 3, stamped: false, extras: ['seal', 'photo'], tone: 'warm' } },
    ],
    ['nothing', 'form', ['--decline', '--reason', 'no time'], { kind: 'decline', reason: 'no time' }],
  ]
  it.each(cases)('answers with %s', async (_what, part, words, answer) => {
    const { request, session } = await rehearse(gateway, part)
    expect(await json('answer', request.id.slice(0, 14), ...words)).toMatchObject({ resolution: { answer } })
    await waitForLastMessage(gateway, session)
    expect((await settledNow(request)).delivery.state).toBe('taken')
  })

  it('takes what is said before the id, and words of one’s own to the letter', async () => {
    const options = [{ label: 'yes' }, { label: 'answer=no' }]
    const only = { id: 'answer', header: '', question: 'Well?', options, multiSelect: false, secret: false }
    const cases: [string[], object][] = [
      [['--choose', 'yes'], { chosen: ['yes'] }],
      [['--choose', 'answer=no'], { chosen: ['answer=no'] }],
      [['--choose', '1'], { chosen: ['yes'] }],
      [['--text', 'answer=42'], { chosen: [], other: 'answer=42' }],
    ]
    for (const [words, said] of cases) {
      const { id } = await askAsExternalAgent(gateway, {
        kind: 'questions',
        questions: [{ ...only, allowOther: true }],
      })
      const { code, out } = await hp('answer', '--json', ...words, id)
      expect([code, JSON.parse(out).resolution.answer.answers]).toEqual([0, [{ id: 'answer', ...said }]])
    }
  })

  const asked = (...ids: string[]) => ({
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

  it('never takes an id for the number of another question: what could be two is refused', async () => {
    const request = await askAsExternalAgent(gateway, asked('0', '1', '2'))
    for (const name of ['1', '2']) {
      const { code, err } = await hp('answer', request.id, '--choose', `${name}=yes`)
      expect([code, err]).toEqual([2, expect.stringMatching(/could be question 1:0 or question 2:1|2:1 or .* 3:2/)])
    }
    expect((await settledNow(request)).status).toBe('pending')
    const { out } = await hp('show', request.id)
    const names = [...out.matchAll(/--choose (\S+)=…/g)].map(([, name]) => name ?? '')
    expect(names, 'what is shown can be typed').toEqual(['0', '2:1', '3'])
    const words = names.flatMap((name, at) => ['--text', `${name}=for ${at}`])
    expect((await json('answer', request.id, ...words)).resolution.answer.answers).toEqual(
      ['0', '1', '2'].map((id, at) => ({ id, chosen: [], other: `for ${at}` })),
    )
  })

  it('refuses a name that begins like another, and takes an id that is its own number', async () => {
    const alike = await askAsExternalAgent(gateway, asked('a', 'a=b'))
    expect((await hp('answer', alike.id, '--text', 'a=b=c')).err).toMatch(/could be question 1:a or question 2:a=b/)
    const said = await json('answer', alike.id, '--text', '1:a=b=c', '--text', '2=d')
    expect(said.resolution.answer.answers.map(({ other }: { other: string }) => other)).toEqual(['b=c', 'd'])
    const own = await askAsExternalAgent(gateway, asked('1', '2'))
    expect((await json('answer', own.id, '--choose', '2=no')).resolution.answer.answers).toEqual([
      { id: '2', chosen: ['no'] },
    ])
  })

  it.each(['0x1', '1e0', ' 1', '+1', '1.0'])('takes no number but a plain one: not "%s"', async spelled => {
    const { id } = await askAsExternalAgent(gateway, asked('one'))
    expect(await hp('answer', id, '--choose', spelled)).toMatchObject({ code: 2, out: '' })
  })

  it('reads values and words from a file or from stdin', async () => {
    const form = await rehearse(gateway, 'form')
    const file = join(gateway.folder, 'values.json')
    writeFileSync(file, JSON.stringify({ to: 'Bo', count: 2 }))
    const done = await hp(
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
    ['nothing is said', 'questions', [], /Say what to answer.*language, checks/],
    ['it is not said to which question', 'questions', ['--choose', 'French'], /say which one as QUESTION=…/],
    [
      'a label is none',
      'questions',
      ['--choose', 'language=Latin'],
      /"Latin" is not an option.*English, French, German/,
    ],
    [
      'two are chosen where one may be',
      'questions',
      ['--choose', 'language=French', '--choose', 'language=German'],
      /exactly one/,
    ],
    ['there is one word too many', 'questions', ['--choose', 'checks=tone', 'checks=1'], /too many arguments/],
    ['a field is none', 'form', ['--set', 'colour=red'], /"colour" is not a field/],
    ['a field is of another type', 'form', ['--set', 'to=x', '--set', 'count=many'], /"count" must be a number/],
    ['a field does not fit', 'form', ['--set', 'to=x', '--set', 'count=12'], /"count" must be at most 9/],
    ['a form is chosen from', 'form', ['--choose', 'x'], /is a form: --set/],
    ['an approval is answered', 'approval', ['--choose', 'yes'], /holdpoint allow req_/],
    ['a reason stands without --decline', 'text', ['--reason', 'x'], /go with --decline/],
  ])('resolves nothing when %s: exit code 2', async (_what, part, words, sentence) => {
    const { request } = await rehearse(gateway, part)
    const { code, out, err } = await hp('answer', request.id, ...words)
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(sentence)
    expect((await settledNow(request)).status).toBe('pending')
  })
})

describe('ids', () => {
  it('that fit several are refused with their names; that fit none are not found', async () => {
    const { id } = await gateway.call('startSession', { driver: 'external' })
    const beginnings = new Map<string, string[]>()
    // A letter of 32: among 33 requests two begin alike.
    for (let n = 0; n < 33; n++) {
      const request = await gateway.call('openRequest', {
        id,
        key: `n${n}`,
        ask: approvalAsk({ command: `echo ${n}` }),
      })
      const first = request.id.slice(0, 5)
      beginnings.set(first, [...(beginnings.get(first) ?? []), request.id])
    }
    const [first, ids] = [...beginnings].find(([, all]) => all.length > 1) as [string, string[]]
    const { code, err } = await hp('show', first)
    expect(code).toBe(2)
    expect(err).toMatch(new RegExp(`"${first}" could be .*give more letters`))
    if (ids.length <= 4) for (const named of ids) expect(err).toContain(named)
    await gateway.call('endSession', { id })
    for (const words of [
      ['show', 'req_iiii'],
      ['show', 'req_00000000000000000000'],
      ['deny', 'zzzzzzzzzz'],
      ['end', 'ses_0000000000'],
      ['show', 'ses_0000000000'],
    ])
      expect([words, (await hp(...words)).code]).toEqual([words, 3])
    expect((await hp('show', 'req_')).code).toBe(2)
  })
})

describe('sessions', () => {
  it('are listed, those that wait first; ended ones on demand', async () => {
    const { session } = await rehearse(gateway, 'approval')
    const { id } = await gateway.call('startSession', { driver: 'external', title: 'gone by' })
    await gateway.call('endSession', { id })
    const { code, out } = await hp('sessions')
    expect(code).toBe(0)
    expect(out).toMatch(
      new RegExp(`^${session.id.slice(0, 10)}\\S*\\s+waiting for you\\s+now\\s+approval\\s+rehearsal\\s`, 'm'),
    )
    expect(out).not.toContain('gone by')
    const listed = await json('sessions', '--all', '--search', 'gone by')
    expect(listed.items.map((item: Session) => item.id)).toEqual([id])
    expect((await json('sessions', '--state', 'ended', '--limit', '1')).items.length).toBe(1)
    expect((await hp('sessions', '--search', 'no such thing')).out).toBe('There are no such sessions.\n')
    expect((await hp('sessions', '--limit', '0')).code).toBe(2)
  })
})

describe('a gateway that is named', () => {
  it('is spoken to with HOLDPOINT_TOKEN; a wrong one is refused', async () => {
    const { url, token } = gateway
    const home = join(gateway.folder, 'elsewhere')
    const env = { ...plainEnvironment(), HOLDPOINT_HOME: home, HOLDPOINT_URL: url, HOLDPOINT_TOKEN: token }
    expect((await runCli(['inbox', '--json'], { env })).code).toBe(0)
    const flags = ['inbox', '--url', url, '--home', home]
    expect((await runCli(flags, { env: { ...env, HOLDPOINT_URL: 'http://127.0.0.1:1' } })).code).toBe(0)
    expect(await runCli(flags, { env: { ...env, HOLDPOINT_TOKEN: 'hp_wrong' } })).toMatchObject({ code: 1 })
    const torn = await runCli(flags, { env: { ...env, HOLDPOINT_TOKEN: `${token}\n${token}` } })
    expect([torn.code, torn.err]).toEqual([
      1,
      expect.stringMatching(/^holdpoint: HOLDPOINT_TOKEN holds .*no token has\n$/),
    ])
    const { code, err } = await runCli(flags, { env: { ...env, HOLDPOINT_TOKEN: '' } })
    expect([code, err]).toEqual([1, expect.stringMatching(/set HOLDPOINT_TOKEN/)])
  })

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
    ['start', 'x'],
    ['ask', 'x'],
    ['guard', '--', 'true'],
  ])('%s says that there is none: exit code 5', async (...words) => {
    const { code, err } = await runCli(words, {
      env: { ...plainEnvironment(), HOLDPOINT_HOME: join(gateway.folder, 'nobody') },
    })
    expect([code, err]).toEqual([5, expect.stringMatching(/No gateway .* holdpoint up/)])
  })
})

async function settledNow({ id }: Request): Promise<Request> {
  return gateway.call('getRequest', { id })
}
