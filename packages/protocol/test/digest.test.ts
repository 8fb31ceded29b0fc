import { describe, expect, it } from 'vitest'
import { type Ask, digestText, type SessionId } from '../src/index.ts'

const session = 'ses_00000000000000000000' as SessionId

describe('digestText', () => {
  const approval: Ask = {
    kind: 'approval',
    tool: 'Bash',
    input: { command: 'ls', timeout: 1 },
    title: 'List',
    cwd: '/a',
    editable: false,
  }
  const changes: readonly [string, Partial<typeof approval>, boolean][] = [
    ['tool', { tool: 'Write' }, true],
    ['input', { input: { command: 'ls ', timeout: 1 } }, true],
    ['working folder', { cwd: '/b' }, true],
    ['plan', { plan: 'first this' }, true],
    ['title', { title: 'Something else' }, false],
    ['description', { description: 'harmless' }, false],
    ['caution', { caution: { defaultToNo: true } }, false],
  ]
  it.each(changes)(
    'digestText of an approval covers the field “%s” if and only if the field affects what runs',
    (_name, change, differs) => {
      expect(digestText(session, { ...approval, ...change } as Ask) !== digestText(session, approval)).toBe(differs)
    },
  )
  it('digestText contains the session, so that an answer fits only one session', () => {
    const other = 'ses_11111111111111111111' as SessionId
    expect(digestText(other, approval)).not.toBe(digestText(session, approval))
  })
  it('digestText of an approval is canonical JSON with a version, the session and the fields that affect what runs', () => {
    expect(digestText(session, approval)).toBe(
      '{"cwd":"/a","input":{"command":"ls","timeout":1},"kind":"approval","session":"ses_00000000000000000000","tool":"Bash","version":1}',
    )
  })
})
