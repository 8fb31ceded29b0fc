/** Tests the real Claude Code with a gateway that replies late, so that Claude Code is ahead of the session loop. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Call } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { ClaudeFixture } from './claude-fixture.ts'
import { bash, type ModelScript, say, toolUse } from './model.ts'

let claude: ClaudeFixture
afterEach(() => claude.close())

/** Runs until go.txt exists. */
const task = {
  command: 'while [ ! -e go.txt ]; do sleep 0.05; done',
  description: 'waiting',
  run_in_background: true,
}
/** Starts a background task and asks for a call. When the task has ended, Claude Code starts a turn by itself and asks for another call. */
const script: ModelScript = ({ results, conversation }) => {
  const hasResult = (id: string) => results.some(result => result.id === id)
  if (!hasResult('toolu_task')) return [toolUse('Bash', task, 'toolu_task')]
  if (!hasResult('toolu_1')) return [bash('echo 1 >> ran.txt')]
  if (!conversation.includes('<task-notification>')) return [say('idle')]
  return hasResult('toolu_2') ? [say('own turn finished')] : [bash('echo 2 >> ran.txt', 'toolu_2')]
}

describe('when the gateway replies late to the report that an answer was taken', () => {
  it('a call of the next turn of Claude Code keeps its request while the gateway has not yet replied to the report of an earlier answer', async () => {
    claude = await ClaudeFixture.create(script)
    let replyNow = () => {}
    const held = new Promise<void>(resolve => {
      replyNow = resolve
    })
    let isFirst = true
    const call: Call = async (op, input, options) => {
      const output = await claude.asRunner(op, input, options)
      if (op !== 'reportDelivery' || !JSON.stringify(input).includes('"taken"') || !isFirst) return output
      isFirst = false
      await held
      return output
    }
    claude.startRunner([claude.driver()], { call })
    await claude.startSession('claude', { cwd: claude.cwd, parkAfterMs: null })
    await claude.answer(await claude.waitForRequest('toolu_1'), { kind: 'allow' })
    await claude.waitForEvent('message.added', event => event.text === 'idle')
    writeFileSync(join(claude.cwd, 'go.txt'), '')
    const second = await claude.waitForRequest('toolu_2')
    replyNow()
    expect((await claude.waitForTurnEnd(1)).ending).toBe('done')
    expect((await claude.getRequest('toolu_2')).status).toBe('pending')
    await claude.answer(second, { kind: 'allow' })
    expect((await claude.waitForTurnEnd(2)).ending).toBe('done')
    expect(claude.readFile('ran.txt')).toBe('1\n2\n')
  })
})
