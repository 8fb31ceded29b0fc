import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Answer, ApprovalAsk, JsonObject, Request } from '@holdpoint/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { generatorDriver, rehearsal } from '../src/index.ts'
import { RunnerFixture } from './runner-fixture.ts'

let fixture: RunnerFixture
/** A folder outside the rehearsal's own folder, so that its files remain after the turn. */
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
async function told(): Promise<string> {
  expect((await fixture.waitForTurnEnd()).ending).toBe('done')
  return fixture.agentTexts().join('')
}
const allow: Answer = { kind: 'allow' }
function outputOf(tool: string): unknown {
  const started = fixture.eventsOf('tool.started').find(event => event.tool === tool)
  return fixture.eventsOf('tool.finished').find(event => event.block === started?.block)?.output
}
/** Waits for a file that a command writes in one step. */
async function written(name: string): Promise<string> {
  const file = join(outside, name)
  while (!existsSync(file) || readFileSync(file, 'utf8') === '') await glance()
  return readFileSync(file, 'utf8').trim()
}
const glance = () => new Promise(resolve => setTimeout(resolve, 5))
function runs(pid: number): boolean {
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
  it('runs exactly the allowed command, in its own temporary folder', async () => {
    await play('approval')
    const request = await nextAsk()
    const { cwd, tool } = approvalOf(request)
    expect(tool).toBe('Bash')
    const edit = edited(request, { command: 'printf edited > mine.txt; pwd; ls; cat mine.txt' })
    await fixture.answer(request, { ...edit, note: 'go ahead' })
    expect(await told()).toContain('The command was allowed with the note “go ahead”, and it ran.')
    expect(outputOf('Bash')).toBe(`${cwd}\nmine.txt\nedited`)
  })

  it('runs nothing when the command is denied', async () => {
    await play('approval')
    const request = await nextAsk()
    await fixture.answer(request, { kind: 'deny', reason: 'not now' })
    expect(await told()).toContain('The command was not allowed: not now')
    expect(fixture.eventsOf('tool.started').map(event => event.tool)).not.toContain('Bash')
  })

  it('edits a real file', async () => {
    await play('edit')
    const request = await nextAsk()
    await fixture.answer(request, allow)
    expect(await told()).toContain('The edit was allowed')
    expect(outputOf('Edit')).toBe('Good morning.\nIt is a day for rehearsals.\n')
  })

  it('edits no file outside its folder, even if a person edits the input', async () => {
    await play('edit')
    const request = await nextAsk()
    await fixture.answer(request, edited(request, { file_path: '/etc/hostname' }))
    await told()
    expect(fixture.eventsOf('tool.finished').at(-1)).toMatchObject({ ok: false })
  })

  it('shows a plan that can be edited', async () => {
    await play('plan')
    const request = await nextAsk()
    expect(approvalOf(request)).toMatchObject({ tool: 'ExitPlanMode', editable: true })
    expect(approvalOf(request).plan).toContain('# Plan')
    await fixture.answer(request, { ...edited(request, { plan: '# Less' }), mode: 'acceptEdits' })
    expect(await told()).toContain('The plan was approved in mode acceptEdits, with your changes.')
  })

  it('asks two questions in one request', async () => {
    await play('questions')
    const request = await nextAsk()
    const answers = [
      { id: 'language', chosen: ['French'] },
      { id: 'checks', chosen: ['Tone', 'Spelling'], other: 'Rhythm' },
    ]
    await fixture.answer(request, { kind: 'answers', answers })
    expect(await told()).toContain('The language: French. The checks: Tone, Spelling, “Rhythm”.')
  })

  it('asks for text', async () => {
    await play('text')
    await fixture.answer(await nextAsk(), { kind: 'answers', answers: [{ id: 'text', chosen: [], other: 'Dawn' }] })
    expect(await told()).toContain('The greeting is called “Dawn”.')
  })

  it('shows a form with every kind of field', async () => {
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
    expect(await told()).toContain('to = "Ada", count = 2')
  })

  it('asks twice at once from nested subagents', async () => {
    await play('parallel')
    const second = await nextAsk(2)
    const first = await nextAsk(1)
    expect([first.agentPath, second.agentPath]).toEqual([['reviewer'], ['reviewer', 'linter']])
    await fixture.answer(second, { kind: 'deny' })
    await fixture.answer(first, allow)
    expect(await told()).toContain('The reviewer was allowed; its linter was not allowed (A person declined this.).')
  })

  it('plays every scene, then lists the answers; a later message gets a short reply', async () => {
    const id = await play()
    const stop = fixture.answerAll(({ ask }) => {
      if (ask.kind === 'approval') return allow
      return ask.kind === 'form' ? { kind: 'submit', values: { to: 'Ada', count: 1 } } : { kind: 'decline' }
    })
    const text = await told()
    stop()
    expect(fixture.eventsOf('request.opened')).toHaveLength(8)
    for (const sentence of [
      'The command was allowed',
      'The edit was allowed',
      'The plan was approved',
      'questions were declined',
      'gave the greeting no name',
      'The form says',
      'The reviewer was allowed',
    ])
      expect(text).toContain(sentence)
    await fixture.asPerson('sendMessage', { id, text: 'thanks' })
    await fixture.answer(await nextAsk(9), { kind: 'answers', answers: [{ id: 'choice', chosen: ['Keep it'] }] })
    await fixture.waitForTurnEnd(2)
    expect(fixture.agentTexts().join('')).toContain('You said: “thanks”. You chose “Keep it”.')
  })

  it('plays only the first approval if the message says "short"', async () => {
    await play(undefined, 'a short one please')
    await fixture.answer(await nextAsk(), allow)
    await told()
    expect(fixture.eventsOf('request.opened')).toHaveLength(1)
  })

  it('hides Holdpoint’s environment variables from its commands', async () => {
    process.env.HOLDPOINT_SECRET_OF_A_TEST = 'hp_secret'
    try {
      await play('approval')
      await answerEdited({ command: 'env | grep -c ^PATH=; env' })
      await told()
      expect(outputOf('Bash')).toMatch(/^1\n/)
      expect(outputOf('Bash')).not.toContain('HOLDPOINT_')
    } finally {
      delete process.env.HOLDPOINT_SECRET_OF_A_TEST
    }
  })

  it('leaves no process behind when it is interrupted', async () => {
    const id = await play('approval')
    const command = `sleep 300 & echo "$$ $!" > ${outside}/pids; wait`
    await answerEdited({ command })
    const pids = (await written('pids')).split(' ').map(Number)
    expect(pids.map(runs)).toEqual([true, true])
    await fixture.asPerson('interruptSession', { id })
    expect((await fixture.waitForTurnEnd()).ending).toBe('interrupted')
    while (pids.some(runs)) await glance()
  })

  it('leaves no process behind when its command has ended', async () => {
    await play('approval')
    const command = `sleep 300 & echo "$!" > ${outside}/pid; echo done`
    await answerEdited({ command })
    await told()
    expect(outputOf('Bash')).toBe('done')
    const pid = Number(await written('pid'))
    while (runs(pid)) await glance()
  })

  it('ends a command that prints too much, and reports it', async () => {
    await play('approval')
    await answerEdited({ command: 'yes' })
    await told()
    expect(outputOf('Bash')).toEqual({ error: expect.stringMatching(/more than \d+ bytes/) })
  })

  it('removes its folder when the turn is over, in whatever way it ended', async () => {
    const id = await play('approval')
    const { cwd } = approvalOf(await nextAsk())
    expect(existsSync(cwd)).toBe(true)
    await fixture.asPerson('interruptSession', { id })
    expect((await fixture.waitForTurnEnd()).ending).toBe('interrupted')
    while (existsSync(cwd)) await glance()
  })

  it('keeps its folder while it is parked, runs an allowed command there later, and then removes it', async () => {
    fixture = await RunnerFixture.open()
    const runner = fixture.startRunner([generatorDriver(rehearsal)])
    await fixture.startSession('rehearsal', { prompt: 'go', options: { paceMs: 0, only: 'approval' } })
    const request = await nextAsk()
    const { cwd } = approvalOf(request)
    await runner.stop()
    expect(existsSync(cwd)).toBe(true)
    fixture.startRunner([generatorDriver(rehearsal)])
    await fixture.answer(request, edited(request, { command: 'pwd' }))
    await told()
    expect(outputOf('Bash')).toBe(cwd)
    while (existsSync(cwd)) await glance()
  })
  it('keeps its folder when it is parked because a request waits longer than parkAfterMs', async () => {
    fixture = await RunnerFixture.open()
    fixture.startRunner([generatorDriver(rehearsal)])
    const options = { paceMs: 0, only: 'approval' }
    await fixture.startSession('rehearsal', { prompt: 'go', parkAfterMs: 20, options })
    const request = await nextAsk()
    const { cwd } = approvalOf(request)
    await fixture.waitForEvent('session.changed', event => event.value.state === 'parked')
    expect(existsSync(cwd)).toBe(true)
    await fixture.answer(request, edited(request, { command: 'pwd' }))
    expect(await told()).toContain('The command was allowed, and it ran.')
    expect(outputOf('Bash')).toBe(cwd)
  })
  it('reports an allowed command that failed as failed', async () => {
    await play('approval')
    await answerEdited({ command: 'yes' })
    expect(await told()).toContain('The command was allowed, but it failed: the command printed more than')
  })
})
