import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Answer, ApprovalAsk, Request } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { generatorDriver, rehearsal } from '../src/index.ts'
import { Stage } from './stage.ts'

let stage: Stage
const folders = new Set<string>()
afterEach(async () => {
  for (const event of stage.log('tool.finished'))
    if (typeof event.output === 'string' && event.output.includes('holdpoint-rehearsal-')) folders.add(event.output)
  await stage.close()
  for (const folder of folders)
    if (/holdpoint-rehearsal-\w+$/.test(folder)) await rm(folder, { recursive: true, force: true })
  folders.clear()
})

async function play(only?: string, prompt = 'go') {
  stage = await Stage.open()
  stage.run([generatorDriver(rehearsal)])
  return stage.start('rehearsal', { prompt, options: { paceMs: 0, ...(only ? { only } : {}) } })
}
async function nextAsk(count = 1): Promise<Request> {
  return (await stage.until(() => stage.log('request.opened')[count - 1])).value
}
function approvalOf(request: Request): ApprovalAsk {
  if (request.ask.kind !== 'approval') throw new Error('no approval')
  return request.ask
}
async function told(): Promise<string> {
  expect((await stage.turnOver()).ending).toBe('done')
  return stage.texts().join('')
}
const allow: Answer = { kind: 'allow' }

describe('the rehearsal', () => {
  it('runs exactly the command that was allowed, in a folder of its own', async () => {
    await play('approval')
    const request = await nextAsk()
    const { cwd, tool } = approvalOf(request)
    expect(tool).toBe('Bash')
    await stage.answer(request, { kind: 'allow', input: { command: 'printf edited > mine.txt' }, note: 'go ahead' })
    expect(await told()).toContain('The command was allowed with the note “go ahead”, and it ran.')
    expect(await readdir(cwd)).toEqual(['mine.txt'])
    expect(await readFile(join(cwd, 'mine.txt'), 'utf8')).toBe('edited')
  })

  it('runs nothing when the command is denied', async () => {
    await play('approval')
    const request = await nextAsk()
    await stage.answer(request, { kind: 'deny', reason: 'not now' })
    expect(await told()).toContain('The command was not allowed: not now')
    expect(await readdir(approvalOf(request).cwd)).toEqual([])
  })

  it('edits a real file', async () => {
    await play('edit')
    const request = await nextAsk()
    await stage.answer(request, allow)
    expect(await told()).toContain('The edit was allowed')
    const { file_path } = approvalOf(request).input
    expect(await readFile(String(file_path), 'utf8')).toContain('a day for rehearsals')
  })

  it('edits no file outside its folder, whatever a person makes of the input', async () => {
    await play('edit')
    const request = await nextAsk()
    const input = { ...approvalOf(request).input, file_path: '/etc/hostname' }
    await stage.answer(request, { kind: 'allow', input })
    await told()
    expect(stage.log('tool.finished').at(-1)).toMatchObject({ ok: false })
  })

  it('shows a plan that may be changed', async () => {
    await play('plan')
    const request = await nextAsk()
    expect(approvalOf(request)).toMatchObject({ tool: 'ExitPlanMode', editable: true })
    expect(approvalOf(request).plan).toContain('# Plan')
    await stage.answer(request, { kind: 'allow', mode: 'acceptEdits', input: { plan: '# Less' } })
    expect(await told()).toContain('The plan was approved in mode acceptEdits, with your changes.')
  })

  it('asks two questions on one request', async () => {
    await play('questions')
    const request = await nextAsk()
    const answers = [
      { id: 'language', chosen: ['French'] },
      { id: 'checks', chosen: ['Tone', 'Spelling'], other: 'Rhythm' },
    ]
    await stage.answer(request, { kind: 'answers', answers })
    expect(await told()).toContain('The language: French. The checks: Tone, Spelling, “Rhythm”.')
  })

  it('asks for words', async () => {
    await play('text')
    await stage.answer(await nextAsk(), { kind: 'answers', answers: [{ id: 'text', chosen: [], other: 'Dawn' }] })
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
    await stage.answer(await nextAsk(), { kind: 'submit', values })
    expect(await told()).toContain('to = "Ada", count = 2')
  })

  it('asks twice at once under a sub-agent', async () => {
    await play('parallel')
    const second = await nextAsk(2)
    const first = await nextAsk(1)
    expect([first.agentPath, second.agentPath]).toEqual([['reviewer'], ['reviewer', 'linter']])
    await stage.answer(second, { kind: 'deny' })
    await stage.answer(first, allow)
    expect(await told()).toContain('The reviewer was allowed; its linter was not allowed (A person declined this.).')
  })

  it('plays every part, then says what it was told; a later message gets a short echo', async () => {
    const id = await play()
    const stop = stage.answerAll(({ ask }) => {
      if (ask.kind === 'approval') return allow
      return ask.kind === 'form' ? { kind: 'submit', values: { to: 'Ada', count: 1 } } : { kind: 'decline' }
    })
    const text = await told()
    stop()
    expect(stage.log('request.opened')).toHaveLength(8)
    for (const sentence of [
      'The command was allowed',
      'The edit was allowed',
      'The plan was approved',
      'questions were declined',
      'got no name',
      'The form says',
      'The reviewer was allowed',
    ])
      expect(text).toContain(sentence)
    await stage.person('sendMessage', { id, text: 'thanks' })
    await stage.answer(await nextAsk(9), { kind: 'answers', answers: [{ id: 'choice', chosen: ['Keep it'] }] })
    await stage.turnOver(2)
    expect(stage.texts().join('')).toContain('You said: “thanks”. You chose “Keep it”.')
  })

  it('plays only the first approval when it is asked to be short', async () => {
    await play(undefined, 'a short one please')
    await stage.answer(await nextAsk(), allow)
    await told()
    expect(stage.log('request.opened')).toHaveLength(1)
  })
})
