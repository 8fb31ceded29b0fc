/** A permission there and back, as far as no CLI is needed for it: what it cautions about is shown, what it must not remember is not offered, what was allowed once is not allowed again. */
import type { PermissionUpdate } from '@anthropic-ai/claude-agent-sdk'
import type { Answer, Request } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { askFor, type PermissionContext, replyFor } from '../../src/claude/approvals/permission.ts'
import type { HandedAnswer } from '../../src/session/open-request.ts'
import { unknownOutcome } from '../../src/session/open-request.ts'

const remember: PermissionUpdate = {
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

describe('what the CLI says of a call', () => {
  it('is shown as a caution, member by member', () => {
    const careful = {
      defaultToNo: true,
      blockedPath: '/etc/passwd',
      decisionReason: 'outside',
      suppressAlwaysAllowRule: true,
    }
    expect(ask(careful)).toMatchObject({
      caution: { defaultToNo: true, noRemember: true, blockedPath: '/etc/passwd', reason: 'outside' },
    })
    for (const [said, shown] of [
      [{ defaultToNo: true }, { defaultToNo: true }],
      [{ blockedPath: '/x' }, { blockedPath: '/x' }],
      [{ suppressAlwaysAllowRule: true }, { noRemember: true }],
    ] as const)
      expect(ask(said)).toMatchObject({ caution: shown })
    expect(ask()).not.toHaveProperty('caution')
  })

  it('is offered with the scopes that it may have; nothing is where it must not be remembered', () => {
    expect(ask({ suggestions: [remember] })).toMatchObject({
      suggestions: [
        { id: '0:localSettings', label: 'Allow Bash(ls) in this folder, for you', scope: 'localSettings' },
        { id: '0:session', label: 'Allow Bash(ls) for this session', scope: 'session' },
      ],
    })
    expect(ask({ suggestions: [remember], suppressAlwaysAllowRule: true })).not.toHaveProperty('suggestions')
  })
})

describe('what the CLI is told', () => {
  const given = { tool: 'Bash', input, updates: [remember], mayBypass: false }
  const settled = (answer: Answer, replayed = false): HandedAnswer => ({
    kind: 'answer',
    answer,
    by: 'person',
    input: answer.kind === 'allow' ? (answer.input ?? input) : null,
    request: { ask: ask() } as Request, // all that is read of it
    replayed,
    taken: async () => {},
    dropped: async () => {},
  })

  it('of an allow that it went on with before is that its outcome is unknown; a deny holds as it was', () => {
    expect(replyFor(settled({ kind: 'allow' }), given).result).toEqual({ behavior: 'allow', updatedInput: input })
    expect(replyFor(settled({ kind: 'allow' }, true), given).result).toEqual({
      behavior: 'deny',
      message: unknownOutcome,
    })
    const no = { kind: 'deny', reason: 'no' } as const
    expect(replyFor(settled(no, true), given).result).toEqual({ behavior: 'deny', message: 'no' })
  })

  it('of a suggestion that was chosen is the CLI’s own, with the scope that was chosen', () => {
    const { result, fromNowOn } = replyFor(settled({ kind: 'allow', suggestion: '0:session' }), given)
    expect(result).toMatchObject({ updatedPermissions: [{ ...remember, destination: 'session' }] })
    expect(fromNowOn).toBe(true)
    const edited = { kind: 'allow', suggestion: '0:session', input: { command: 'pwd' } } as const
    expect(replyFor(settled(edited), given).fromNowOn).toBeUndefined()
  })

  it('of a mode that cannot be entered is nothing, and a person reads why', () => {
    const { result, trouble } = replyFor(settled({ kind: 'allow', mode: 'bypassPermissions' }), given)
    expect(result).not.toHaveProperty('updatedPermissions')
    expect(trouble).toContain('allowBypass')
    const open = replyFor(settled({ kind: 'allow', mode: 'bypassPermissions' }), { ...given, mayBypass: true })
    expect(open.result).toMatchObject({ updatedPermissions: [{ type: 'setMode', mode: 'bypassPermissions' }] })
    expect(open.trouble).toBeUndefined()
  })
})
