/** Tests that a deny rule also denies in texts that are too long or too nested to be searched completely. */
import type { Rule } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { type RuleContext, RuleSet } from '../../src/index.ts'

const context: RuleContext = {
  driver: 'claude',
  session: null,
  folder: '/srv',
  agentPath: [],
  isEditable: true,
  now: 0,
  home: '/home/ada',
  files: { realPath: path => path },
  builtIn: { protectedFolder: null, cwd: '/srv' },
  runner: null,
  isUsedUp: () => false,
}
const id = 'rul_00000000000000000001' as Rule['id'] // a valid id
const rules = new RuleSet([{ effect: 'deny', command: 'rm -rf', id, madeBy: 'ada', madeAt: 0, version: 1 }])
const verdict = (command: string) => rules.evaluate({ tool: 'Bash', input: { command }, cwd: '/srv' }, context).verdict

describe('a deny rule for rm -rf', () => {
  const long = 'true; '.repeat(100_000)
  it.each([
    ['after 50 commands', `${'true; '.repeat(50)}rm -rf x`],
    ['after 500 commands', `${'true; '.repeat(500)}rm -rf x`],
    ['after 100,000 commands', `${long}rm -rf x`],
    ['with escape sequences after 100,000 commands', `${long}$'\\x72\\x6d' -rf x`],
    ['in quotes after 100,000 commands', `${long}r''m "-r"f x`],
    ['in capitals after 100,000 commands', `${long}/BIN/RM -rf x`],
    ['in a list after 100,000 commands', `${long}{rm,-rf,x}`],
    ['in 20,000 brackets', `${'('.repeat(20_000)}rm -rf x`],
    ['in 20,000 substitutions', `${'$('.repeat(20_000)}rm -rf x`],
    ['in 1 MiB of brackets', `${'('.repeat(1 << 20)}rm -rf x`],
  ])('a deny rule for rm -rf denies the command %s', (_, command) => expect(verdict(command)).toBe('deny'))

  it('a deny rule for rm -rf does not deny a long command without rm -rf', () => expect(verdict(long)).toBe('ask'))
})
