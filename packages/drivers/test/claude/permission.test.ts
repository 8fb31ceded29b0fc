/** Tests converting a permission request to an ask and an answer to a permission result, without the CLI. */
import type { PermissionUpdate } from '@anthropic-ai/claude-agent-sdk'
import type { Answer } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { askFor, type PermissionContext, replyFor } from '../../src/claude/approvals/permission.ts'
import { unknownOutcome } from '../../src/index.ts'
import type { CallAnswer } from '../../src/session/agent-connection.ts'

const allowRule: PermissionUpdate = {
  type: 'addRules',
  rules: [{ toolName: 'Bash', ruleContent: 'ls' }],
  behavior: 'allow',
  destination: 'localSettings',
}
const input = { command: 'ls' }
const ask = (more: Partial<PermissionContext> = {}) => {
  const context = { signal: new AbortController().signal, toolUseID: 't', requestId: 't', ...more }
  return askFor({ tool: 'Bash', input, context, cwd: '/srv' }, false)
}

describe('askFor', () => {
  it('askFor shows each warning of the CLI as a caution', () => {
    const warnings = {
      defaultToNo: true,
      blockedPath: '/etc/passwd',
      decisionReason: 'outside',
      suppressAlwaysAllowRule: true,
    }
    expect(ask(warnings)).toMatchObject({
      caution: { defaultToNo: true, noRemember: true, blockedPath: '/etc/passwd', reason: 'outside' },
    })
    for (const [warning, caution] of [
      [{ defaultToNo: true }, { defaultToNo: true }],
      [{ blockedPath: '/x' }, { blockedPath: '/x' }],
      [{ suppressAlwaysAllowRule: true }, { noRemember: true }],
    ] as const)
      expect(ask(warning)).toMatchObject({ caution })
    expect(ask()).not.toHaveProperty('caution')
  })

  it('askFor offers each suggestion for its own scope and for the session, or no suggestions if the CLI suppresses them', () => {
    expect(ask({ suggestions: [allowRule] })).toMatchObject({
      suggestions: [
        { id: '0:localSettings', label: 'Allow Bash(ls) in this folder, for you', scope: 'localSettings' },
        { id: '0:session', label: 'Allow Bash(ls) for this session', scope: 'session' },
      ],
    })
    expect(ask({ suggestions: [allowRule], suppressAlwaysAllowRule: true })).not.toHaveProperty('suggestions')
  })
})

describe('replyFor', () => {
  const call = { tool: 'Bash', input, updates: [allowRule], mayBypass: false }
  const handed = (answer: Answer, replayed = false): CallAnswer => ({
    kind: 'answer',
    answer,
    by: 'person',
    input: answer.kind === 'allow' ? (answer.input ?? input) : null,
    key: 't',
    ask: ask(),
    replayed,
  })

  it('replyFor turns a replayed allow into “outcome unknown”, and leaves a replayed deny unchanged', () => {
    expect(replyFor(handed({ kind: 'allow' }), call).result).toEqual({ behavior: 'allow', updatedInput: input })
    expect(replyFor(handed({ kind: 'allow' }, true), call).result).toEqual({
      behavior: 'deny',
      message: unknownOutcome,
    })
    const deny = { kind: 'deny', reason: 'no' } as const
    expect(replyFor(handed(deny, true), call).result).toEqual({ behavior: 'deny', message: 'no' })
  })

  it('replyFor turns a chosen suggestion into the CLI’s permission update with the chosen scope', () => {
    const { result, alwaysAllow } = replyFor(handed({ kind: 'allow', suggestion: '0:session' }), call)
    expect(result).toMatchObject({ updatedPermissions: [{ ...allowRule, destination: 'session' }] })
    expect(alwaysAllow).toBe(true)
    const edited = { kind: 'allow', suggestion: '0:session', input: { command: 'pwd' } } as const
    expect(replyFor(handed(edited), call).alwaysAllow).toBeUndefined()
  })

  it('replyFor ignores a mode that the session cannot enter, and tells the person why', () => {
    const { result, problem } = replyFor(handed({ kind: 'allow', mode: 'bypassPermissions' }), call)
    expect(result).not.toHaveProperty('updatedPermissions')
    expect(problem).toContain('allowBypass')
    const withBypass = replyFor(handed({ kind: 'allow', mode: 'bypassPermissions' }), { ...call, mayBypass: true })
    expect(withBypass.result).toMatchObject({ updatedPermissions: [{ type: 'setMode', mode: 'bypassPermissions' }] })
    expect(withBypass.problem).toBeUndefined()
  })
})
