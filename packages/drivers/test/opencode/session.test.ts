/** Tests a session of the real opencode against the scripted model. */
import { join } from 'node:path'
import type { Request, SessionId } from '@holdpoint/protocol'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { ask, callTool, refuse, say, shell, writeFile } from '../../../../test/agents/model/script.ts'
import { OpencodeFixture } from './opencode-fixture.ts'

let opencode: OpencodeFixture
let session: SessionId

beforeAll(async () => {
  opencode = await OpencodeFixture.create({ permission: { bash: { 'git push *': 'deny' } } })
  opencode.startRunner()
  opencode.model.script('greet the person', say('Hello to you.'))
  session = await opencode.start('greet the person')
  await opencode.waitForTurnEnd()
})
afterAll(() => opencode.close())
beforeEach(() => opencode.beginTest())
const send = (text: string) => opencode.asPerson('sendMessage', { id: session, text })

it('the text of opencode is in the log, with the usage of the turn', async () => {
  expect(opencode.agentTexts().join('')).toBe('Hello to you.')
  expect(opencode.eventsOf('turn.finished').at(-1)).toMatchObject({ ending: 'done', usage: { inputTokens: 100 } })
  const info = await opencode.asPerson('getSession', { id: session })
  expect(info).toMatchObject({ mode: 'build', conversationId: expect.stringMatching(/^ses_/) })
})

it('a command that the settings of opencode deny is refused without a request', async () => {
  opencode.model.script('push it now', shell('git push origin', 'call_push'), say('It is forbidden.'))
  await send('push it now')
  expect(await opencode.turnEnd()).toMatchObject({ ending: 'done' })
  expect(opencode.requestCount).toBe(0)
  expect(opencode.model.toolResult('call_push')).toContain('prevents you')
})

it('a new file and an edit of opencode open requests that show their changes', async () => {
  const path = join(opencode.cwd, 'new.txt')
  const edit = callTool('edit', { filePath: path, oldString: 'two', newString: 'three' })
  opencode.model.script('create and change', writeFile(path, 'one\ntwo\n'), edit, say('Changed.'))
  await send('create and change')
  const created = await opencode.nextRequest()
  expect(created.ask).toMatchObject({
    ...{ action: { write: [path] }, title: `Change ${path}` },
    input: { file_path: path, content: 'one\ntwo\n' },
  })
  await opencode.answer(created, { kind: 'allow' })
  const changed = await opencode.nextRequest(2)
  expect(changed.ask).toMatchObject({
    ...{ action: { write: [path] }, title: `Change ${path}` },
    input: { file_path: path, old_string: 'one\ntwo\n', new_string: 'one\nthree\n' },
  })
  await opencode.answer(changed, { kind: 'allow' })
  await opencode.turnEnd()
  expect(opencode.readFile('new.txt')).toBe('one\nthree\n')
})

it('a command in another folder opens one request, although opencode asks for the folder and for the command', async () => {
  const outside = callTool('bash', { command: 'pwd > where.txt', workdir: opencode.home, description: 'where' })
  opencode.model.script('go outside', outside, say('There.'))
  await send('go outside')
  const request = await opencode.nextRequest()
  expect(request.ask).toMatchObject({
    action: { shell: 'pwd > where.txt', cwd: opencode.home },
    description: expect.stringContaining('outside its folder'),
  })
  await opencode.answer(request, { kind: 'allow' })
  expect(await opencode.turnEnd()).toMatchObject({ ending: 'done' })
  expect(opencode.requestCount).toBe(1)
  expect(opencode.readFile('../where.txt')).toBe(`${opencode.home}\n`)
})

it('a fetch of opencode opens a request with the host', async () => {
  opencode.model.script(
    'fetch a page',
    callTool('webfetch', { url: 'http://127.0.0.1:9/x', format: 'text' }),
    say('No.'),
  )
  await send('fetch a page')
  const request = await opencode.nextRequest()
  expect(request.ask).toMatchObject({ action: { fetch: '127.0.0.1' }, title: 'Fetch http://127.0.0.1:9/x' })
  await opencode.answer(request, { kind: 'deny' })
  expect(await opencode.turnEnd()).toMatchObject({ ending: 'done' })
})

it('several calls of opencode at once run if they are allowed and do not run if they are denied, and the model reads all reasons', async () => {
  const calls = ['a', 'b', 'c'].map(name => shell(`echo ran >> several-${name}.txt`, `call_several_${name}`))
  opencode.model.script('several at once', calls, say('All decided.'))
  await send('several at once')
  const all = await Promise.all([opencode.nextRequest(1), opencode.nextRequest(2), opencode.nextRequest(3)])
  const requestFor = (name: string) => all.find(({ ask }) => JSON.stringify(ask).includes(`several-${name}`)) as Request // every call was asked
  await opencode.answer(requestFor('a'), { kind: 'deny', reason: 'not the first' })
  await opencode.answer(requestFor('c'), { kind: 'deny', reason: 'not the third' })
  await opencode.answer(requestFor('b'), { kind: 'allow' })
  expect(await opencode.turnEnd()).toMatchObject({ ending: 'done' })
  expect(['a', 'b', 'c'].map(name => opencode.readFile(`several-${name}.txt`))).toEqual([null, 'ran\n', null])
  expect(opencode.model.hasRead('not the first')).toBe(true)
  expect(opencode.model.hasRead('not the third')).toBe(true)
  for (const request of all) expect(await opencode.deliveryOf(request)).toBe('taken')
})

it('opencode reads the answers to its questions', async () => {
  const questions = [
    { header: 'Database', question: 'Which database?', options: ['Postgres', 'Redis'] },
    { header: 'Extras', question: 'Which extras?', options: ['Lint', 'Tests'], multiple: true },
  ]
  opencode.model.script('ask me something', ask(questions, 'call_ask'), say('Thank you.'))
  await send('ask me something')
  const request = await opencode.nextRequest()
  expect(request.ask).toMatchObject({
    kind: 'questions',
    questions: [{ question: 'Which database?', multiSelect: false }, { multiSelect: true }],
  })
  const answers = [
    { id: '0', chosen: ['Redis'] },
    { id: '1', chosen: ['Lint'], other: 'my own' },
  ]
  await opencode.answer(request, { kind: 'answers', answers })
  expect(await opencode.turnEnd()).toMatchObject({ ending: 'done' })
  expect(opencode.model.toolResult('call_ask')).toContain('"Which database?"="Redis", "Which extras?"="Lint, my own"')
  expect(await opencode.deliveryOf(request)).toBe('taken')
})

it('a declined question tells the model of opencode why, and the turn continues', async () => {
  const question = { header: 'Color', question: 'Which color?', options: ['red', 'blue'] }
  opencode.model.script('ask and decline', ask([question], 'call_decline'), say('Then I choose.'))
  await send('ask and decline')
  await opencode.answer(await opencode.nextRequest(), { kind: 'decline', reason: 'choose yourself' })
  expect(await opencode.turnEnd()).toMatchObject({ ending: 'done' })
  expect(opencode.model.toolResult('call_decline')).toContain('choose yourself')
})

it('a request of a subagent of opencode has the name of the subagent', async () => {
  const task = { description: 'small job', prompt: 'do the inner work', subagent_type: 'general' }
  opencode.model.script('delegate the job', callTool('task', task), say('It is done.'))
  opencode.model.script('do the inner work', [say('Inner text. '), shell('echo ran >> inner.txt')], say('Inner done.'))
  await send('delegate the job')
  const request = await opencode.nextRequest()
  expect(request.agentPath).toEqual(['small job (@general subagent)'])
  await opencode.answer(request, { kind: 'allow' })
  expect(await opencode.turnEnd()).toMatchObject({ ending: 'done' })
  expect(opencode.readFile('inner.txt')).toBe('ran\n')
})

it('an interrupt withdraws the pending requests of opencode, and nothing stays open in opencode', async () => {
  const question = { header: 'Wait', question: 'How long?', options: ['short', 'long'] }
  opencode.model.script('wait for me', [shell('echo ran >> waited.txt'), ask([question])])
  opencode.model.script('go on again', say('Here I am.'))
  await send('wait for me')
  const both = [await opencode.nextRequest(1), await opencode.nextRequest(2)]
  await opencode.asPerson('interruptSession', { id: session })
  expect(await opencode.turnEnd()).toMatchObject({ ending: 'interrupted' })
  for (const request of both)
    expect((await opencode.getRequest(request)).resolution).toMatchObject({ by: 'agent', reason: 'interrupted' })
  await send('go on again')
  expect(await opencode.turnEnd(2)).toMatchObject({ ending: 'done' })
  expect(opencode.readFile('waited.txt')).toBeNull()
  expect(await opencode.pendingInOpencode(session)).toEqual([])
})

it('a person can change the mode of opencode to plan, in which opencode changes no files', async () => {
  const plan = writeFile(join(opencode.cwd, 'planned.txt'), 'no', 'call_planned')
  opencode.model.script('sketch the work', plan, say('Planned.'))
  await opencode.asPerson('patchSession', { id: session, mode: 'plan' })
  await expect.poll(async () => (await opencode.asPerson('getSession', { id: session })).mode).toBe('plan')
  await send('sketch the work')
  expect(await opencode.turnEnd()).toMatchObject({ ending: 'done' })
  expect(opencode.requestCount).toBe(0)
  expect(opencode.readFile('planned.txt')).toBeNull()
  await opencode.asPerson('patchSession', { id: session, mode: 'build' })
  await expect.poll(async () => (await opencode.asPerson('getSession', { id: session })).mode).toBe('build')
})

it('a person can choose a model that opencode has, and no other model', async () => {
  await opencode.asPerson('patchSession', { id: session, model: 'scripted/unknown' })
  const refused = await opencode.waitForEvent('command.done', event => !event.outcome.ok)
  expect(refused.outcome.reason).toContain('has no model “scripted/unknown”')
  await opencode.asPerson('patchSession', { id: session, model: 'scripted/second-model' })
  await expect
    .poll(async () => (await opencode.asPerson('getSession', { id: session })).model)
    .toBe('scripted/second-model')
  opencode.model.script('with the second model', say('I am another one.'))
  await send('with the second model')
  await opencode.turnEnd()
  expect(opencode.model.calls.at(-1)?.model).toBe('second-model')
})

it('an attached file reaches the model of opencode', async () => {
  opencode.model.script('read the attachment', say('I read it.'))
  await opencode.sendFile(session, 'read the attachment', 'notes.txt', 'the attached words')
  expect(await opencode.turnEnd()).toMatchObject({ ending: 'done' })
  expect(opencode.model.hasRead('the attached words')).toBe(true)
})

it('a turn of opencode that the model refuses fails with the reason', async () => {
  opencode.model.script('fail this turn', refuse(400, 'the model is not available'))
  await send('fail this turn')
  expect(await opencode.turnEnd()).toMatchObject({ ending: 'failed' })
  expect(opencode.eventsOf('error.raised').at(-1)?.message).toContain('the model is not available')
})

it('another session can continue a conversation of opencode', async () => {
  const { conversationId } = await opencode.asPerson('getSession', { id: session })
  opencode.model.script('remember the greeting', say('I do.'))
  await opencode.start('remember the greeting', { conversationId: conversationId ?? '' })
  expect(await opencode.turnEnd()).toMatchObject({ ending: 'done' })
  expect(opencode.model.calls.at(-1)?.body).toContain('greet the person')
})
