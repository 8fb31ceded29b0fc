import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Answer, ApprovalAsk, JsonObject, Request } from '@holdpoint/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { generatorDriver, rehearsal } from '../src/index.ts'
import { RunnerFixture } from './runner-fixture.ts'

let fixture: RunnerFixture
/** A folder outside the rehearsal agent's own folder. Files in this folder remain after the turn. */
let outside: string
beforeEach(() => {
  outside = mkdtempSync(join(tmpdir(), 'holdpoint-outside-'))
})
afterEach(async () => {
  await fixture.close()
  rmSync(outside, { recursive: true })
})

async function play(only?: string, prompt = 'go') {
  fixture = await RunnerFixture.open()
  fixture.startRunner([generatorDriver(rehearsal)])
  return fixture.startSession('rehearsal', { prompt, options: { paceMs: 0, ...(only ? { only } : {}) } })
}
async function nextAsk(count = 1): Promise<Request> {
  return (await fixture.waitFor(() => fixture.eventsOf('request.opened')[count - 1])).value
}
function approvalOf(request: Request): ApprovalAsk {
  if (request.ask.kind !== 'approval') throw new Error('no approval')
  return request.ask
}
async function agentText(): Promise<string> {
  expect((await fixture.waitForTurnEnd()).ending).toBe('done')
  return fixture.agentTexts().join('')
}
const allow: Answer = { kind: 'allow' }
function outputOf(tool: string): unknown {
  const started = fixture.eventsOf('tool.started').find(event => event.tool === tool)
  return fixture.eventsOf('tool.finished').find(event => event.block === started?.block)?.output
}
/** Waits until the file has content, and returns the content. The command must write the file in one step, because the content may be read at any time. */
async function written(name: string): Promise<string> {
  const file = join(outside, name)
  while (!existsSync(file) || readFileSync(file, 'utf8') === '') await shortPause()
  return readFileSync(file, 'utf8').trim()
}
const shortPause = () => new Promise(resolve => setTimeout(resolve, 5))
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

const edited = (request: Request, change: JsonObject) =>
  ({ kind: 'allow', input: { ...approvalOf(request).input, ...change } }) as const
async function answerEdited(change: JsonObject): Promise<void> {
  const request = await nextAsk()
  await fixture.answer(request, edited(request, change))
}

describe('the rehearsal agent', () => {
  it('the rehearsal agent runs exactly the allowed command, in its own temporary folder', async () => {
    await play('approval')
    const request = await nextAsk()
    const { cwd, tool } = approvalOf(request)
    expect(tool).toBe('Bash')
    const edit = edited(request, { command: 'printf edited > mine.txt; pwd; ls; cat mine.txt' })
    await fixture.answer(request, { ...edit, note: 'go ahead' })
    expect(await agentText()).toContain('The command was allowed with the note “go ahead”, and it ran.')
    expect(outputOf('Bash')).toBe(`${cwd}\nmine.txt\nedited`)
  })

  it('the rehearsal agent runs no command if the person denies it', async () => {
    await play('approval')
    const request = await nextAsk()
    await fixture.answer(request, { kind: 'deny', reason: 'not now' })
    expect(await agentText()).toContain('The command was not allowed: not now')
    expect(fixture.eventsOf('tool.started').map(event => event.tool)).not.toContain('Bash')
  })

  it('the rehearsal agent edits a file in its temporary folder if the person allows it', async () => {
    await play('edit')
    const request = await nextAsk()
    await fixture.answer(request, allow)
    expect(await agentText()).toContain('The edit was allowed')
    expect(outputOf('Edit')).toBe('Good morning.\nIt is a day for rehearsals.\n')
  })

  it('the rehearsal agent edits no file outside its folder, even if a person changes the path', async () => {
    await play('edit')
    const request = await nextAsk()
    await fixture.answer(request, edited(request, { file_path: '/etc/hostname' }))
    await agentText()
    expect(fixture.eventsOf('tool.finished').at(-1)).toMatchObject({ ok: false })
  })

  it('the rehearsal agent shows a plan that the person can edit before approving it', async () => {
    await play('plan')
    const request = await nextAsk()
    expect(approvalOf(request)).toMatchObject({ tool: 'ExitPlanMode', editable: true })
    expect(approvalOf(request).plan).toContain('# Plan')
    await fixture.answer(request, { ...edited(request, { plan: '# Less' }), mode: 'acceptEdits' })
    expect(await agentText()).toContain('The plan was approved in mode acceptEdits, with your changes.')
  })

  it('the rehearsal agent asks two questions in one request', async () => {
    await play('questions')
    const request = await nextAsk()
    const answers = [
      { id: 'language', chosen: ['French'] },
      { id: 'checks', chosen: ['Tone', 'Spelling'], other: 'Rhythm' },
    ]
    await fixture.answer(request, { kind: 'answers', answers })
    expect(await agentText()).toContain('Language: French. Checks: Tone, Spelling, “Rhythm”.')
  })

  it('the rehearsal agent asks a question that the person answers in their own words', async () => {
    await play('text')
    await fixture.answer(await nextAsk(), { kind: 'answers', answers: [{ id: 'text', chosen: [], other: 'Dawn' }] })
    expect(await agentText()).toContain('The greeting is called “Dawn”.')
  })

  it('the rehearsal agent shows a form with every kind of field', async () => {
    await play('form')
    const values = {
      to: 'Ada',
      count: 2,
      tone: 'plain',
      stamped: false,
      extras: ['seal'],
      day: '2026-01-31',
      width: 1.5,
    }
    await fixture.answer(await nextAsk(), { kind: 'submit', values })
    expect(await agentText()).toContain('to = "Ada", count = 2')
  })

  it('the rehearsal agent opens a request of a subagent and a request of its nested subagent at the same time', async () => {
    await play('parallel')
    const second = await nextAsk(2)
    const first = await nextAsk(1)
    expect([first.agentPath, second.agentPath]).toEqual([['reviewer'], ['reviewer', 'linter']])
    await fixture.answer(second, { kind: 'deny' })
    await fixture.answer(first, allow)
    expect(await agentText()).toContain(
      'The reviewer was allowed; its linter was not allowed (A person declined this.).',
    )
  })

  it('the rehearsal agent plays every scene and then lists the answers, and replies briefly to a later message', async () => {
    const id = await play()
    const stop = fixture.answerAll(({ ask }) => {
      if (ask.kind === 'approval') return allow
      return ask.kind === 'form' ? { kind: 'submit', values: { to: 'Ada', count: 1 } } : { kind: 'decline' }
    })
    const text = await agentText()
    stop()
    expect(fixture.eventsOf('request.opened')).toHaveLength(8)
    for (const sentence of [
      'The command was allowed',
      'The edit was allowed',
      'The plan was approved',
      'questions were declined',
      'didn’t name the greeting',
      'The form says',
      'The reviewer was allowed',
    ])
      expect(text).toContain(sentence)
    await fixture.asPerson('sendMessage', { id, text: 'thanks' })
    await fixture.answer(await nextAsk(9), { kind: 'answers', answers: [{ id: 'choice', chosen: ['Keep it'] }] })
    await fixture.waitForTurnEnd(2)
    expect(fixture.agentTexts().join('')).toContain('You said: “thanks”. You chose “Keep it”.')
  })

  it('the rehearsal agent plays only the approval scene if the message contains “short”', async () => {
    await play(undefined, 'a short one please')
    await fixture.answer(await nextAsk(), allow)
    await agentText()
    expect(fixture.eventsOf('request.opened')).toHaveLength(1)
  })

  it('the rehearsal agent hides Holdpoint’s environment variables from its commands', async () => {
    process.env.HOLDPOINT_SECRET_OF_A_TEST = 'hp_secret'
    try {
      await play('approval')
      await answerEdited({ command: 'env | grep -c ^PATH=; env' })
      await agentText()
      expect(outputOf('Bash')).toMatch(/^1\n/)
      expect(outputOf('Bash')).not.toContain('HOLDPOINT_')
    } finally {
      delete process.env.HOLDPOINT_SECRET_OF_A_TEST
    }
  })

  it('the rehearsal agent leaves no process running when it is interrupted', async () => {
    const id = await play('approval')
    const command = `sleep 300 & echo "$$ $!" > ${outside}/pids; wait`
    await answerEdited({ command })
    const pids = (await written('pids')).split(' ').map(Number)
    expect(pids.map(isRunning)).toEqual([true, true])
    await fixture.asPerson('interruptSession', { id })
    expect((await fixture.waitForTurnEnd()).ending).toBe('interrupted')
    while (pids.some(isRunning)) await shortPause()
  })

  it('the rehearsal agent leaves no process running when its command has ended', async () => {
    await play('approval')
    const command = `sleep 300 & echo "$!" > ${outside}/pid; echo done`
    await answerEdited({ command })
    await agentText()
    expect(outputOf('Bash')).toBe('done')
    const pid = Number(await written('pid'))
    while (isRunning(pid)) await shortPause()
  })

  it('the rehearsal agent kills a command that prints too much, and reports the limit', async () => {
    await play('approval')
    await answerEdited({ command: 'yes' })
    await agentText()
    expect(outputOf('Bash')).toEqual({ error: expect.stringMatching(/more than \d+ bytes/) })
  })

  it('the rehearsal agent removes its folder when the turn ends, even if a person interrupted it', async () => {
    const id = await play('approval')
    const { cwd } = approvalOf(await nextAsk())
    expect(existsSync(cwd)).toBe(true)
    await fixture.asPerson('interruptSession', { id })
    expect((await fixture.waitForTurnEnd()).ending).toBe('interrupted')
    while (existsSync(cwd)) await shortPause()
  })

  it('the rehearsal agent keeps its folder while it is parked, runs an allowed command there after it resumes, and then removes the folder', async () => {
    fixture = await RunnerFixture.open()
    const runner = fixture.startRunner([generatorDriver(rehearsal)])
    await fixture.startSession('rehearsal', { prompt: 'go', options: { paceMs: 0, only: 'approval' } })
    const request = await nextAsk()
    const { cwd } = approvalOf(request)
    await runner.stop()
    expect(existsSync(cwd)).toBe(true)
    fixture.startRunner([generatorDriver(rehearsal)])
    await fixture.answer(request, edited(request, { command: 'pwd' }))
    await agentText()
    expect(outputOf('Bash')).toBe(cwd)
    while (existsSync(cwd)) await shortPause()
  })
  it('the rehearsal agent keeps its folder when it is parked because a request waits longer than parkAfterMs', async () => {
    fixture = await RunnerFixture.open()
    fixture.startRunner([generatorDriver(rehearsal)])
    const options = { paceMs: 0, only: 'approval' }
    await fixture.startSession('rehearsal', { prompt: 'go', parkAfterMs: 20, options })
    const request = await nextAsk()
    const { cwd } = approvalOf(request)
    await fixture.waitForEvent('session.changed', event => event.value.state === 'parked')
    expect(existsSync(cwd)).toBe(true)
    await fixture.answer(request, edited(request, { command: 'pwd' }))
    expect(await agentText()).toContain('The command was allowed, and it ran.')
    expect(outputOf('Bash')).toBe(cwd)
  })
  it('the rehearsal agent reports that an allowed command has failed', async () => {
    await play('approval')
    await answerEdited({ command: 'yes' })
    expect(await agentText()).toContain('The command was allowed, but it failed: the command printed more than')
  })
})
