/** Tests Claude Code behind a wrapper script that does not `exec` it, so that the script is the process that the driver starts and stops. */
import type { Call } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { ManualClock } from '../runner-fixture.ts'
import { advanceUntil, ClaudeFixture, isAlive, waitUntil, wrapClaude } from './claude-fixture.ts'
import { bash, steps } from './model.ts'

let claude: ClaudeFixture
afterEach(() => claude.close())

const pidIn = (file: string) => Number(claude.readFile(file))

describe('when Claude Code reads its input through a pipe of its wrapper script', () => {
  /** Creates input-ended.txt when the pipe ends because SIGTERM has ended `cat`. The script itself waits until Claude Code has exited. */
  const piped = `trap : TERM
(trap : TERM; cat; exec >&-; : > input-ended.txt) | sh -c 'echo $$ > claude.pid; exec "$@"' sh "$claude" "$@"`

  it('a call of Claude Code in a wrapper script is denied with its reason, although the pipe of the script could end before Claude Code handles SIGTERM', async () => {
    const clock = new ManualClock()
    const options = { knownParkable: true, clock, executable: wrapClaude(piped) }
    claude = await ClaudeFixture.create(steps([bash('echo ran >> ran.txt')]), options)
    const id = await claude.startClaude({ parkAfterMs: 1000 })
    const request = await claude.waitForRequest()
    await claude.waitForTranscript(id)
    // A busy machine may not run Claude Code between SIGTERM and the end of its input. Claude Code then handles the end of its input first.
    const pid = pidIn('claude.pid')
    process.kill(pid, 'SIGSTOP')
    let isParked = false
    const parked = advanceUntil(clock, claude.waitUntilParked(id)).then(() => {
      isParked = true
    })
    await waitUntil(() => isParked || claude.readFile('input-ended.txt') !== null)
    if (isAlive(pid)) process.kill(pid, 'SIGCONT')
    await parked
    await claude.answer(request, { kind: 'deny', reason: 'still no' })
    expect((await claude.waitForTurnEnd()).ending).toBe('done')
    expect(claude.readFile('ran.txt')).toBeNull()
    expect(claude.model.toolResult()).toContain('still no')
    expect(claude.model.hasRead('stream closed')).toBe(false)
  })
})

describe('when the runner of a wrapped Claude Code is stopped while it reports an answer as taken', () => {
  it('if the runner of a wrapped Claude Code is stopped while it reports an answer as taken, the next runner asks again about another call that waits', async () => {
    const both = [bash('echo 1 >> ran.txt', 'toolu_1'), bash('echo 2 >> ran.txt', 'toolu_2')]
    // SIGTERM reaches only the script, so Claude Code keeps running: if the driver closed its input before the process is killed, Claude Code would see the end of its input.
    const executable = wrapClaude('trap : TERM; "$claude" "$@"; exit $?')
    claude = await ClaudeFixture.create(steps(both), { knownParkable: true, executable })
    const call: Call = async (op, input, options) => {
      if (op !== 'reportDelivery' || !JSON.stringify(input).includes('"taken"'))
        return claude.asRunner(op, input, options)
      await claude.waitForRequest('toolu_2')
      void runner.stop()
      return new Promise<never>(() => {})
    }
    const runner = claude.startRunner([claude.driver()], { call })
    const id = await claude.startSession('claude', { cwd: claude.cwd, parkAfterMs: null })
    await claude.answer(await claude.waitForRequest('toolu_1'), { kind: 'allow' })
    await runner.finished
    claude.startRunner()
    await claude.waitUntilParked(id)
    await claude.answer(await claude.waitForRequest('toolu_2'), { kind: 'deny', reason: 'not two' })
    expect((await claude.waitForTurnEnd()).ending).toBe('done')
    expect(claude.readFile('ran.txt')).toBe('1\n')
    expect(claude.model.toolResult('toolu_2')).toContain('not two')
  })
})

describe('when the runner of a wrapped Claude Code is stopped while an allowed command runs', () => {
  it('an allowed command of a wrapped Claude Code ends when the runner is stopped', async () => {
    const executable = wrapClaude('"$claude" "$@"; exit $?')
    claude = await ClaudeFixture.create(steps([bash('echo $$ > pid.txt; sleep 60')]), { executable })
    const runner = claude.startRunner()
    await claude.startSession('claude', { cwd: claude.cwd, parkAfterMs: null })
    await claude.answer(await claude.waitForRequest(), { kind: 'allow' })
    await waitUntil(() => (claude.readFile('pid.txt') ?? '').endsWith('\n'))
    await runner.stop()
    await waitUntil(() => !isAlive(pidIn('pid.txt')))
  })
})
