/** Tests answers to approvals, questions and plans of the real Claude Code. */
import { type Answer, type JsonObject, limits } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { ClaudeFixture, type ClaudeFixtureOptions } from './claude-fixture.ts'
import { bash, type ModelScript, say, steps, toolUse } from './model.ts'

let claude: ClaudeFixture
afterEach(() => claude.close())

/** Starts a session, answers its request, and waits for the end of the turn. */
async function askAndAnswer(
  script: ModelScript,
  answer: Answer,
  more: Parameters<ClaudeFixture['startClaude']>[0] = {},
  options: ClaudeFixtureOptions = {},
) {
  claude = await ClaudeFixture.create(script, options)
  await claude.startClaude(more)
  const request = await claude.waitForRequest()
  await claude.answer(request, answer)
  return { request, turnEnd: await claude.waitForTurnEnd() }
}

describe('approval requests from Claude Code', () => {
  it('an allowed command of Claude Code runs, and the model gets its output', async () => {
    const { request, turnEnd } = await askAndAnswer(steps([bash('echo hello | tee out.txt')]), { kind: 'allow' })
    expect(request.ask).toMatchObject({ kind: 'approval', tool: 'Bash', cwd: claude.cwd, editable: true })
    expect(turnEnd.ending).toBe('done')
    expect(claude.readFile('out.txt')).toBe('hello\n')
    expect(claude.model.toolResult()).toContain('hello')
    expect((await claude.getRequest()).delivery.state).toBe('taken')
  })

  it('a denied command of Claude Code does not run, and the model gets the reason and continues', async () => {
    const { turnEnd } = await askAndAnswer(steps([bash('touch out.txt')]), { kind: 'deny', reason: 'not on a Sunday' })
    expect(turnEnd.ending).toBe('done')
    expect(claude.readFile('out.txt')).toBeNull()
    expect(claude.model.toolResult()).toContain('not on a Sunday')
    expect(claude.agentTexts()).toEqual(['done'])
  })

  it('a denial without a reason tells the model of Claude Code that a person denied the call', async () => {
    await askAndAnswer(steps([bash('touch out.txt')]), { kind: 'deny' })
    expect(claude.model.toolResult()).toContain('A person declined this.')
  })

  it('the model of Claude Code reads path, line, quoted text and comment of a denied change', async () => {
    const file = { file_path: '/tmp/holdpoint-review/a.txt', content: 'first\nsecond\n' }
    const comments = [{ path: 'src/a.txt', line: 2, quote: 'second', text: 'Call it two.' }]
    await askAndAnswer(steps([toolUse('Write', file, 'toolu_1')]), { kind: 'deny', reason: 'Almost.', comments })
    expect(claude.model.toolResult()).toContain('Almost.')
    expect(claude.model.toolResult()).toContain('src/a.txt, line 2:\n> second\nCall it two.')
  })

  it('the model of Claude Code reads the comments on an allowed command together with the result', async () => {
    const comments = [{ line: 1, quote: 'touch out.txt', text: 'Next time in tmp.' }]
    await askAndAnswer(steps([bash('touch out.txt')]), { kind: 'allow', comments })
    expect(claude.readFile('out.txt')).toBe('')
    expect(claude.model.hasRead('Line 1 of the command:\n> touch out.txt\nNext time in tmp.')).toBe(true)
  })

  it('Claude Code reads and answers a question that a person asks back, and its next request follows the earlier request', async () => {
    const reply = 'Because the test needs it.'
    claude = await ClaudeFixture.create(steps([bash('touch out.txt')], [say(reply), bash('touch out.txt', 'toolu_2')]))
    await claude.startClaude()
    const first = await claude.waitForRequest()
    await claude.answer(first, { kind: 'deny', reason: 'Why do you need out.txt?', askBack: true })
    const second = await claude.waitForRequest('toolu_2')
    expect(claude.model.toolResult()).toContain('asks you this first:\n\nWhy do you need out.txt?')
    expect(second.follows).toBe(first.id)
    expect(claude.agentTexts()).toEqual([reply])
    expect(claude.readFile('out.txt')).toBeNull()
    await claude.answer(second, { kind: 'allow' })
    await claude.waitForTurnEnd()
    expect(claude.readFile('out.txt')).toBe('')
  })

  it('a denial with `interrupt: true` ends the turn of Claude Code', async () => {
    const { turnEnd } = await askAndAnswer(steps([bash('touch out.txt')]), {
      kind: 'deny',
      reason: 'stop it',
      interrupt: true,
    })
    expect(turnEnd.ending).toBe('cancelled')
    expect(claude.model.calls).toHaveLength(1)
    expect(claude.readFile('out.txt')).toBeNull()
  })

  it('a command of Claude Code that the person edited before allowing it runs as edited', async () => {
    const input = { command: 'touch edited.txt', description: 'a command' }
    await askAndAnswer(steps([bash('touch asked.txt')]), { kind: 'allow', input })
    expect(claude.readFile('asked.txt')).toBeNull()
    expect(claude.readFile('edited.txt')).toBe('')
  })

  it('an answer to Claude Code whose edited input has the wrong field types is refused, and the request stays pending', async () => {
    claude = await ClaudeFixture.create(steps([bash('touch asked.txt')]))
    await claude.startClaude()
    const request = await claude.waitForRequest()
    const invalidInputs: readonly JsonObject[] = [{ command: 5, description: 'x' }, { description: 'x' }]
    for (const input of invalidInputs)
      await expect(claude.answer(request, { kind: 'allow', input })).rejects.toMatchObject({
        code: 'answer_mismatch',
        message: expect.stringContaining('"command"'),
      })
    expect((await claude.getRequest()).status).toBe('pending')
    await claude.answer(request, { kind: 'allow' })
    await claude.waitForTurnEnd()
    expect(claude.readFile('asked.txt')).toBe('')
  })

  it('a call of Claude Code whose input is too large is denied, and the agent and the person see the size and the limit', async () => {
    const write = (bytes: number, id: string) => {
      const input = { file_path: `${claude.cwd}/${id}.txt`, content: '' }
      const content = 'y'.repeat(bytes - JSON.stringify(input).length)
      return [toolUse('Write', { ...input, content }, id)]
    }
    const bytesMax = limits.toolInputMaxBytes
    claude = await ClaudeFixture.create(({ results }) => {
      if (results.length === 2) return [{ type: 'text', text: 'done' }]
      return results.length === 0 ? write(bytesMax, 'toolu_0') : write(bytesMax + 1, 'toolu_1')
    })
    const id = await claude.startClaude()
    await claude.answer(await claude.waitForRequest('toolu_0'), { kind: 'allow' })
    await claude.asPerson('patchSession', { id, mode: 'acceptEdits' })
    expect((await claude.waitForTurnEnd()).ending).toBe('done')
    expect(claude.readFile('toolu_0.txt')?.length).toBeGreaterThan(900_000)
    expect(claude.readFile('toolu_1.txt')).toBeNull()
    expect(claude.eventsOf('request.opened')).toHaveLength(1)
    const sentence = /Write was denied because its input is too large to ask about \(\d+ bytes; the limit is \d+\)/
    expect(claude.model.toolResult()).toMatch(sentence)
    expect(claude.eventsOf('error.raised')[0]?.message).toMatch(sentence)
  })

  it('a person’s note on an allowed call reaches the model of Claude Code together with the result', async () => {
    await askAndAnswer(steps([bash('touch out.txt')]), { kind: 'allow', note: 'only this once, please' })
    expect(claude.readFile('out.txt')).toBe('')
    expect(claude.model.hasRead('only this once, please')).toBe(true)
    expect(claude.eventsOf('turn.finished')).toHaveLength(1)
  })

  it('a call of Claude Code does not run if its deadline passes, and the model is told that nobody answered', async () => {
    claude = await ClaudeFixture.create(steps([bash('touch out.txt')]))
    await claude.startClaude({ deadlineMs: 1000, onDeadline: 'deny' })
    await claude.waitForTurnEnd()
    expect(claude.model.toolResult()).toContain('Nobody answered.')
    expect(claude.readFile('out.txt')).toBeNull()
  })

  it('an accepted “always allow” suggestion of Claude Code applies to the next equal call, in the chosen scope', async () => {
    claude = await ClaudeFixture.create(steps([bash('mkdir -p a/b')], [bash('mkdir -p a/b', 'toolu_2')]))
    await claude.startClaude()
    const request = await claude.waitForRequest()
    const suggestions = request.ask.kind === 'approval' ? request.ask.suggestions : []
    const forSession = suggestions?.find(one => one.scope === 'session')
    expect(forSession).toMatchObject({ label: expect.stringContaining('for this session') })
    await claude.answer(request, { kind: 'allow', suggestion: forSession!.id })
    await claude.waitForTurnEnd()
    expect(claude.model.toolResult('toolu_2')).toBeDefined()
    expect(claude.eventsOf('request.opened')).toHaveLength(1)
    expect(claude.readFile('.claude/settings.local.json')).toBeNull()
  })

  it('a request for a dangerous command shows Claude Code’s warning', async () => {
    const { request } = await askAndAnswer(steps([bash('rm -rf ~/')]), { kind: 'deny' })
    expect(request.ask).toMatchObject({ caution: { reason: expect.any(String) } })
  })
})

const which = { question: 'Which?', header: 'W', multiSelect: false }
const letters = ['A', 'B', 'C'].map(label => ({ label, description: `take ${label}` }))
const ask = (...questions: readonly object[]) => steps([toolUse('AskUserQuestion', { questions }, 'toolu_1')])

describe('questions from Claude Code', () => {
  it('a request of Claude Code with two questions shows the options of both, and the model gets both answers', async () => {
    const script = ask({ ...which, options: letters }, { ...which, question: 'And then?', options: letters })
    const { request } = await askAndAnswer(script, {
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
    expect(claude.model.toolResult()).toContain('"Which?"="B"')
    expect(claude.model.toolResult()).toContain('"And then?"="C"')
  })

  it('an option of a question of Claude Code keeps its preview', async () => {
    const previewed = letters.map(letter => ({ ...letter, preview: `<b>${letter.label}</b>` }))
    const { request } = await askAndAnswer(ask({ ...which, options: previewed }), { kind: 'decline' })
    expect(request.ask).toMatchObject({ questions: [{ options: previewed }] })
  })

  it('a multi-select question of Claude Code accepts several options and free text', async () => {
    const script = ask({ ...which, multiSelect: true, options: letters })
    await askAndAnswer(script, { kind: 'answers', answers: [{ id: 'q1', chosen: ['A', 'C'], other: 'and D' }] })
    expect(claude.model.toolResult()).toContain('"Which?"="A, C, and D"')
  })

  it('a free-text answer reaches the model of Claude Code unchanged', async () => {
    const script = ask({ ...which, options: letters })
    await askAndAnswer(script, { kind: 'answers', answers: [{ id: 'q1', chosen: [], other: 'none, "really"' }] })
    expect(claude.model.toolResult()).toContain('none, "really"')
  })

  it('a person can leave out the answer to one of two questions of Claude Code', async () => {
    const script = ask({ ...which, options: letters }, { ...which, question: 'And then?', options: letters })
    const { turnEnd } = await askAndAnswer(script, { kind: 'answers', answers: [{ id: 'q2', chosen: ['A'] }] })
    expect(turnEnd.ending).toBe('done')
    expect(claude.model.toolResult()).toContain('"And then?"="A"')
    expect(claude.model.toolResult()).not.toContain('"Which?"=')
  })

  it('the model of Claude Code gets the reason when a person declines a question', async () => {
    await askAndAnswer(ask({ ...which, options: letters }), { kind: 'decline', reason: 'ask me tomorrow' })
    expect(claude.model.toolResult()).toContain('ask me tomorrow')
  })
})

/** Writes a plan to the plan file that the CLI names, then asks to leave plan mode. */
const planner: ModelScript = ({ results, conversation }) => {
  const path = /\/[^"\\ `]*\/plans\/[\w-]+\.md/.exec(conversation)?.[0] ?? 'no-plan-file'
  if (results.length === 0)
    return [toolUse('Write', { file_path: path, content: '# First this, then that' }, 'toolu_plan')]
  if (results.length === 1) return [toolUse('ExitPlanMode', {}, 'toolu_1')]
  return results.length === 2 ? [bash('touch planned.txt', 'toolu_2')] : [{ type: 'text', text: 'done' }]
}

describe('plan approvals for Claude Code', () => {
  it('approving a plan of Claude Code changes the mode, and the plan’s commands run without asking', async () => {
    const { request } = await askAndAnswer(planner, { kind: 'allow', mode: 'acceptEdits' }, { mode: 'plan' })
    expect(request.ask).toMatchObject({ kind: 'approval', tool: 'ExitPlanMode', plan: '# First this, then that' })
    expect(claude.model.toolResult()).toContain('approved')
    expect(claude.model.toolResult()).not.toContain('edited')
    expect(claude.readFile('planned.txt')).toBe('')
    expect(claude.eventsOf('request.opened')).toHaveLength(1)
  })

  it('a plan that the person edited before approving it reaches Claude Code as edited', async () => {
    claude = await ClaudeFixture.create(planner)
    await claude.startClaude({ mode: 'plan' })
    const request = await claude.waitForRequest()
    const asked = request.ask.kind === 'approval' ? request.ask.input : {}
    await claude.answer(request, {
      kind: 'allow',
      mode: 'acceptEdits',
      input: { ...asked, plan: '# Only this' },
    })
    await claude.waitForTurnEnd()
    expect(claude.model.toolResult()).toContain('# Only this')
  })

  it('a request of Claude Code without a written plan has no plan field', async () => {
    const { request } = await askAndAnswer(
      steps([toolUse('ExitPlanMode', {}, 'toolu_1')]),
      { kind: 'deny', reason: 'which plan?' },
      { mode: 'plan' },
    )
    expect(request.ask).toMatchObject({ title: 'ExitPlanMode: no written plan', input: {} })
    expect(request.ask).not.toHaveProperty('plan')
  })

  it('approving a plan of Claude Code with an unknown mode is an error, and the request stays pending', async () => {
    claude = await ClaudeFixture.create(planner)
    await claude.startClaude({ mode: 'plan' })
    const request = await claude.waitForRequest()
    await expect(claude.answer(request, { kind: 'allow', mode: 'nonsense' })).rejects.toMatchObject({
      code: 'answer_mismatch',
      message: expect.stringContaining('acceptEdits'),
    })
    await claude.answer(request, { kind: 'allow', mode: 'acceptEdits' })
    await claude.waitForTurnEnd()
    expect(claude.readFile('planned.txt')).toBe('')
  })

  it('an approved plan of Claude Code cannot enter bypassPermissions unless the session was started with allowBypass', async () => {
    claude = await ClaudeFixture.create(planner)
    await claude.startClaude({ mode: 'plan' })
    const request = await claude.waitForRequest()
    expect(request.ask).toMatchObject({ modes: ['default', 'acceptEdits', 'plan', 'dontAsk'] })
    await expect(claude.answer(request, { kind: 'allow', mode: 'bypassPermissions' })).rejects.toMatchObject({
      code: 'answer_mismatch',
      message: expect.stringContaining('dontAsk'),
    })
    await claude.answer(request, { kind: 'allow' })
    await claude.answer(await claude.waitForRequest('toolu_2'), { kind: 'deny' })
    await claude.waitForTurnEnd()
    expect(claude.readFile('planned.txt')).toBeNull()
  })

  it('denying a plan tells Claude Code the reason, and plan mode stays on', async () => {
    await askAndAnswer(planner, { kind: 'deny', reason: 'too much at once' }, { mode: 'plan' })
    expect(claude.model.toolResult()).toContain('too much at once')
    expect(claude.readFile('planned.txt')).toBeNull()
  })
})
