/** Tests how the results in hooks of Claude Code are read for watchers. */
import { describe, expect, it } from 'vitest'
import { failedResult, okResult } from '../src/claude/tool-result.ts'

const printed = { stdout: 'all passed', stderr: '' }

describe('the result of a command of Claude Code', () => {
  it.each([
    ['that succeeded has the exit code 0', printed, { ok: true, exitCode: 0 }],
    [
      'that may succeed with another code has no exit code',
      { ...printed, returnCodeInterpretation: 'x' },
      { ok: true },
    ],
    ['that continues in the background is not ok', { ...printed, backgroundTaskId: 'b1' }, { ok: false }],
    ['that was interrupted is not ok', { ...printed, interrupted: true }, { ok: false }],
  ])('the result of a command of Claude Code %s', (_, response, expected) => {
    expect(okResult('Bash', response)).toEqual({ ...expected, text: 'all passed' })
  })
  it('the result of a failed command of Claude Code has the exit code that Claude Code writes before the output', () => {
    expect(failedResult('Exit code 3\nno tests')).toEqual({ ok: false, exitCode: 3, text: 'Exit code 3\nno tests' })
  })
})
