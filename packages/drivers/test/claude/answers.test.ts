import { type Answer, type JsonObject, limits } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { ClaudeFixture, type HouseOptions } from './claude-fixture.ts'
import { bash, call, type Play, steps } from './model.ts'

let house: ClaudeFixture
afterEach(() => house.close())

/** One ask, one answer, to the end of the turn. */
async function play(
  script: Play,
  answer: Answer,
  more: Parameters<ClaudeFixture['start']>[0] = {},
  options: HouseOptions = {},
) {
  house = await ClaudeFixture.open(script, options)
  await house.start(more)
  const request = await house.asked()
  await house.stage.answer(request, answer)
  return { request, over: await house.over() }
}

describe('a tool that Claude Code asks for', () => {
  it('runs when it is allowed, and the model reads its output', async () => {
    const { request, over } = await play(steps([bash('echo hello | tee out.txt')]), { kind: 'allow' })
    expect(request.ask).toMatchObject({ kind: 'approval', tool: 'Bash', cwd: house.cwd, editable: true })
    expect(over.ending).toBe('done')
    expect(house.file('out.txt')).toBe('hello\n')
    expect(house.model.told()).toContain('hello')
    expect((await house.request()).delivery.state).toBe('taken')
  })

  it('does not run when it is denied, and the model reads the reason and goes on', async () => {
    const { over } = await play(steps([bash('touch out.txt')]), { kind: 'deny', reason: 'not on a Sunday' })
    expect(over.ending).toBe('done')
    expect(house.file('out.txt')).toBeNull()
    expect(house.model.told()).toContain('not on a Sunday')
    expect(house.stage.texts()).toEqual(['done'])
  })

  it('that is denied without words is told whose no it was', async () => {
    await play(steps([bash('touch out.txt')]), { kind: 'deny' })
    expect(house.model.told()).toContain('A person declined this.')
  })

  it('stops the turn when it is denied so', async () => {
    const { over } = await play(steps([bash('touch out.txt')]), { kind: 'deny', reason: 'stop it', interrupt: true })
    expect(over.ending).toBe('cancelled')
    expect(house.model.scenes).toHaveLength(1)
    expect(house.file('out.txt')).toBeNull()
  })

  it('runs as the person has edited it', async () => {
    const input = { command: 'touch edited.txt', description: 'a command' }
    await play(steps([bash('touch asked.txt')]), { kind: 'allow', input })
    expect(house.file('asked.txt')).toBeNull()
    expect(house.file('edited.txt')).toBe('')
  })

  it('waits on where it was edited into something of another shape', async () => {
    house = await ClaudeFixture.open(steps([bash('touch asked.txt')]))
    await house.start()
    const request = await house.asked()
    const shapes: readonly JsonObject[] = [{ command: 5, description: 'x' }, { description: 'x' }]
    for (const input of shapes)
      await expect(house.stage.answer(request, { kind: 'allow', input })).rejects.toMatchObject({
        code: 'answer_mismatch',
        message: expect.stringContaining('"command"'),
      })
    expect((await house.request()).status).toBe('pending')
    await house.stage.answer(request, { kind: 'allow' })
    await house.over()
    expect(house.file('asked.txt')).toBe('')
  })

  it('that is too large to be asked is refused, and agent and person read why and at which size', async () => {
    const write = (bytes: number, id: string) => {
      const input = { file_path: `${house.cwd}/${id}.txt`, content: '' }
      const content = 'y'.repeat(bytes - JSON.stringify(input).length)
      return [call('Write', { ...input, content }, id)]
    }
    const most = limits.toolInputMaxBytes
    house = await ClaudeFixture.open(({ results }) => {
      if (results.length === 2) return [{ type: 'text', text: 'done' }]
      return results.length === 0 ? write(most, 'toolu_0') : write(most + 1, 'toolu_1')
    })
    const id = await house.start()
    await house.stage.answer(await house.asked('toolu_0'), { kind: 'allow' })
    await house.stage.person('patchSession', { id, mode: 'acceptEdits' })
    expect((await house.over()).ending).toBe('done')
    expect(house.file('toolu_0.txt')?.length).toBeGreaterThan(900_000)
    expect(house.file('toolu_1.txt')).toBeNull()
    expect(house.stage.log('request.opened')).toHaveLength(1)
    const sentence = /Write was refused: its input is too large to be asked \(\d+ bytes; the limit is \d+\)/
    expect(house.model.told()).toMatch(sentence)
    expect(house.stage.log('error.raised')[0]?.message).toMatch(sentence)
  })

  it('brings a note of the person to the model, beside its result', async () => {
    await play(steps([bash('touch out.txt')]), { kind: 'allow', note: 'only this once, please' })
    expect(house.file('out.txt')).toBe('')
    expect(house.model.read('only this once, please')).toBe(true)
    expect(house.stage.log('turn.finished')).toHaveLength(1)
  })

  it('is told that nobody answered when its deadline has passed, and does not run', async () => {
    house = await ClaudeFixture.open(steps([bash('touch out.txt')]))
    await house.start({ deadlineMs: 1000, onDeadline: 'deny' })
    await house.over()
    expect(house.model.told()).toContain('Nobody answered.')
    expect(house.file('out.txt')).toBeNull()
  })

  it('is not asked for again once a suggestion was accepted, with the scope that was chosen', async () => {
    house = await ClaudeFixture.open(steps([bash('mkdir -p a/b')], [bash('mkdir -p a/b', 'toolu_2')]))
    await house.start()
    const request = await house.asked()
    const suggestions = request.ask.kind === 'approval' ? request.ask.suggestions : []
    const forSession = suggestions?.find(one => one.scope === 'session')
    expect(forSession).toMatchObject({ label: expect.stringContaining('for this session') })
    await house.stage.answer(request, { kind: 'allow', suggestion: forSession!.id })
    await house.over()
    expect(house.model.told('toolu_2')).toBeDefined()
    expect(house.stage.log('request.opened')).toHaveLength(1)
    expect(house.file('.claude/settings.local.json')).toBeNull()
  })

  it('says why the CLI is careful about it', async () => {
    const { request } = await play(steps([bash('rm -rf ~/')]), { kind: 'deny' })
    expect(request.ask).toMatchObject({ caution: { reason: expect.any(String) } })
  })
})

const which = { question: 'Which?', header: 'W', multiSelect: false }
const letters = ['A', 'B', 'C'].map(label => ({ label, description: `take ${label}` }))
const ask = (...questions: readonly object[]) => steps([call('AskUserQuestion', { questions }, 'toolu_1')])

describe('questions of Claude Code', () => {
  it('come with their options, and the model reads the answers to both', async () => {
    const script = ask({ ...which, options: letters }, { ...which, question: 'And then?', options: letters })
    const { request } = await play(script, {
      kind: 'answers',
      answers: [
        { id: 'q1', chosen: ['B'] },
        { id: 'q2', chosen: ['C'] },
      ],
    })
    expect(request.ask).toMatchObject({
      kind: 'questions',
      questions: [{ id: 'q1', question: 'Which?', options: letters }, { id: 'q2' }],
    })
    expect(house.model.told()).toContain('"Which?"="B"')
    expect(house.model.told()).toContain('"And then?"="C"')
  })

  it('come with what their options would look like', async () => {
    const previewed = letters.map(letter => ({ ...letter, preview: `<b>${letter.label}</b>` }))
    const { request } = await play(ask({ ...which, options: previewed }), { kind: 'decline' })
    expect(request.ask).toMatchObject({ questions: [{ options: previewed }] })
  })

  it('take several choices, with words of one’s own beside them', async () => {
    const script = ask({ ...which, multiSelect: true, options: letters })
    await play(script, { kind: 'answers', answers: [{ id: 'q1', chosen: ['A', 'C'], other: 'and D' }] })
    expect(house.model.told()).toContain('"Which?"="A, C, and D"')
  })

  it('take free text as it is', async () => {
    const script = ask({ ...which, options: letters })
    await play(script, { kind: 'answers', answers: [{ id: 'q1', chosen: [], other: 'none, "really"' }] })
    expect(house.model.told()).toContain('none, "really"')
  })

  it('may be answered in part', async () => {
    const script = ask({ ...which, options: letters }, { ...which, question: 'And then?', options: letters })
    const { over } = await play(script, { kind: 'answers', answers: [{ id: 'q2', chosen: ['A'] }] })
    expect(over.ending).toBe('done')
    expect(house.model.told()).toContain('"And then?"="A"')
    expect(house.model.told()).not.toContain('"Which?"=')
  })

  it('may be declined, and the model reads why', async () => {
    await play(ask({ ...which, options: letters }), { kind: 'decline', reason: 'ask me tomorrow' })
    expect(house.model.told()).toContain('ask me tomorrow')
  })
})

/** Writes its plan where the CLI says that plans go, then asks to leave the mode. */
const planner: Play = ({ results, all }) => {
  const path = /\/[^"\\ `]*\/plans\/[\w-]+\.md/.exec(all)?.[0] ?? 'no-plan-file'
  if (results.length === 0)
    return [call('Write', { file_path: path, content: '# First this, then that' }, 'toolu_plan')]
  if (results.length === 1) return [call('ExitPlanMode', {}, 'toolu_1')]
  return results.length === 2 ? [bash('touch planned.txt', 'toolu_2')] : [{ type: 'text', text: 'done' }]
}

describe('a plan of Claude Code', () => {
  it('is shown, and approved into a mode in which it is carried out without asking', async () => {
    const { request } = await play(planner, { kind: 'allow', mode: 'acceptEdits' }, { mode: 'plan' })
    expect(request.ask).toMatchObject({ kind: 'approval', tool: 'ExitPlanMode', plan: '# First this, then that' })
    expect(house.model.told()).toContain('approved')
    expect(house.model.told()).not.toContain('edited')
    expect(house.file('planned.txt')).toBe('')
    expect(house.stage.log('request.opened')).toHaveLength(1)
  })

  it('reaches the agent as the person has edited it', async () => {
    house = await ClaudeFixture.open(planner)
    await house.start({ mode: 'plan' })
    const request = await house.asked()
    const asked = request.ask.kind === 'approval' ? request.ask.input : {}
    await house.stage.answer(request, {
      kind: 'allow',
      mode: 'acceptEdits',
      input: { ...asked, plan: '# Only this' },
    })
    await house.over()
    expect(house.model.told()).toContain('# Only this')
  })

  it('that was never written down is not shown as an empty one', async () => {
    const { request } = await play(
      steps([call('ExitPlanMode', {}, 'toolu_1')]),
      { kind: 'deny', reason: 'which plan?' },
      { mode: 'plan' },
    )
    expect(request.ask).toMatchObject({ title: 'ExitPlanMode: no plan was written down', input: {} })
    expect(request.ask).not.toHaveProperty('plan')
  })

  it('cannot be approved into a mode that there is not, and waits on', async () => {
    house = await ClaudeFixture.open(planner)
    await house.start({ mode: 'plan' })
    const request = await house.asked()
    await expect(house.stage.answer(request, { kind: 'allow', mode: 'nonsense' })).rejects.toMatchObject({
      code: 'answer_mismatch',
      message: expect.stringContaining('acceptEdits'),
    })
    await house.stage.answer(request, { kind: 'allow', mode: 'acceptEdits' })
    await house.over()
    expect(house.file('planned.txt')).toBe('')
  })

  it('cannot be approved into bypassPermissions where the session was not started for it, and waits on', async () => {
    house = await ClaudeFixture.open(planner)
    await house.start({ mode: 'plan' })
    const request = await house.asked()
    expect(request.ask).toMatchObject({ modes: ['default', 'acceptEdits', 'plan', 'dontAsk'] })
    await expect(house.stage.answer(request, { kind: 'allow', mode: 'bypassPermissions' })).rejects.toMatchObject({
      code: 'answer_mismatch',
      message: expect.stringContaining('dontAsk'),
    })
    await house.stage.answer(request, { kind: 'allow' })
    await house.stage.answer(await house.asked('toolu_2'), { kind: 'deny' })
    await house.over()
    expect(house.file('planned.txt')).toBeNull()
  })

  it('that is turned down goes on being planned, with the reason', async () => {
    await play(planner, { kind: 'deny', reason: 'too much at once' }, { mode: 'plan' })
    expect(house.model.told()).toContain('too much at once')
    expect(house.file('planned.txt')).toBeNull()
  })
})
