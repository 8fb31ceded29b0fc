import { describe, expect, it } from 'vitest'
import { type ApprovalAsk, callTitles, isCallTitle, limits, truncateTitle } from '../src/index.ts'

const ask = (title: string, more: Partial<ApprovalAsk>): ApprovalAsk => ({
  ...{ kind: 'approval', tool: 'tool', title, input: {}, cwd: '/srv', editable: false },
  ...more,
})

it('a title is cut to the length that a title may have', () => {
  const full = 'x'.repeat(limits.titleMax)
  expect(truncateTitle(full)).toBe(full)
  expect(truncateTitle(`${full}x`)).toBe(`${full.slice(1)}…`)
})

it('a title that is cut in the middle of a character stays well-formed', () => {
  const title = truncateTitle(`${'a'.repeat(limits.titleMax - 2)}😀😀`)
  expect(title.isWellFormed()).toBe(true)
  expect(title).toHaveLength(limits.titleMax)
})

describe('a title that a driver gives to a call', () => {
  const long = `echo ${'x'.repeat(limits.titleMax)}`
  it.each<[string, string, Partial<ApprovalAsk>]>([
    ['of a command', callTitles.run('npm test'), { action: { shell: 'npm test', cwd: '/srv' } }],
    ['of several lines', callTitles.run('\nnpm test\nls'), { input: { command: '\nnpm test\nls' } }],
    ['of a long command', callTitles.run(long), { input: { command: long } }],
    ['of a file', callTitles.change(['/srv/a']), { action: { write: ['/srv/a'] } }],
    ['of several files', callTitles.change(['/srv/a', '/srv/b']), { action: { write: ['/srv/a', '/srv/b'] } }],
    ['of a fetch', callTitles.fetch('http://a.example/x'), { input: { url: 'http://a.example/x' } }],
    ['of another tool', callTitles.use('tool'), {}],
  ])('a title that a driver gives to a call is recognized as such for the title %s', (_, title, more) => {
    expect(isCallTitle(ask(title, more))).toBe(true)
  })
  it('a title of an agent is not confused with a title that a driver gives to the same call', () => {
    const action = { shell: 'npm test', cwd: '/srv' }
    expect(isCallTitle(ask('Run the tests', { action }))).toBe(false)
    expect(isCallTitle(ask('Run: npm publish', { action }))).toBe(false)
  })
})
