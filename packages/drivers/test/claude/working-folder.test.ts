/** Runs the real Claude Code, whose shell stays in the folder to which an earlier command has changed: people and rules must see that folder. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { ClaudeFixture } from './claude-fixture.ts'
import { bash, steps } from './model.ts'

let claude: ClaudeFixture | undefined
afterEach(() => claude?.close())

it('a request for a command of Claude Code names the folder in which the command runs, even after an earlier command has changed the folder', async () => {
  claude = await ClaudeFixture.create(steps([bash('cd sub', 'toolu_1')], [bash('pwd > where.txt', 'toolu_2')]))
  const sub = join(claude.cwd, 'sub')
  mkdirSync(sub)
  await claude.startClaude()
  const request = await claude.waitForRequest('toolu_2')
  await claude.answer(request, { kind: 'allow' })
  await claude.waitForTurnEnd()
  expect(claude.readFile('sub/where.txt')).toBe(`${sub}\n`)
  expect(request.ask).toMatchObject({ cwd: sub, action: { shell: 'pwd > where.txt', cwd: sub } })
})

it('an allowed command of Claude Code for another folder does not run in the folder of the session after the process was lost', async () => {
  claude = await ClaudeFixture.create(steps([bash('cd sub', 'toolu_0')], [bash('pwd > where.txt')]), {
    knownParkable: true,
  })
  mkdirSync(join(claude.cwd, 'sub'))
  const id = await claude.startClaude({ parkAfterMs: 0 })
  const request = await claude.waitForRequest()
  await claude.waitForTranscript(id)
  // The session is not parked, because a new process would start in the folder of the session.
  const pid = claude.pidOf(id) ?? 0
  process.kill(pid, 'SIGKILL')
  await claude.waitUntilParked(id)
  await claude.answer(request, { kind: 'allow' })
  await claude.waitForTurnEnd()
  expect([claude.readFile('where.txt'), claude.readFile('sub/where.txt')]).toEqual([null, null])
  expect(claude.model.toolResult()).toContain('denied')
})
