/** Tests that a deny rule also denies if the shell puts the command together from words in the text. */
import type { Rule } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { type RuleContext, RuleSet } from '../../src/index.ts'

const context: RuleContext = {
  driver: 'claude',
  session: null,
  runner: null,
  folder: '/srv',
  agentPath: [],
  isEditable: true,
  now: 0,
  home: '/home/ada',
  files: { realPath: path => path },
  builtIn: { protectedFolder: null, cwd: '/srv' },
  isUsedUp: () => false,
}
const id = 'rul_00000000000000000001' as Rule['id'] // a valid id
const rules = new RuleSet([{ effect: 'deny', command: 'git push', id, madeBy: 'ada', madeAt: 0, version: 1 }])
const verdict = (command: string) => rules.evaluate({ tool: 'Bash', input: { command }, cwd: '/srv' }, context).verdict
const dollar = '$'

describe('a deny rule for git push', () => {
  it.each([
    "env -S'git push'",
    'env "-Sgit push"',
    'set -- git push; "$@"',
    'set git push && $*',
    'source <(echo git push)',
    ". /dev/stdin <<< 'git push'",
    'alias g=git; g push',
    "rbash -c 'git push'",
    "PAGER='git push' git log",
    "export GIT_PAGER='git push'; git log",
    "sed 's/.*/git push/e' f",
    "tar -I 'git push' -cf x y",
    "tar --use-compress-program 'git push' -cf x y",
    "man -P 'git push' ls",
    `git ${dollar}{x:-push}`,
    `git ${dollar}{x:=push} origin`,
    "printf '%s %s' git push | sh",
    'x=push; y=git; "$y" "$x"',
    'git $(echo push)',
    'git `echo push`',
    'git "$(cat <<E\npush\nE\n)"',
    'eval "git" "push"',
  ])('a deny rule for git push denies %j', command => expect(verdict(command)).toBe('deny'))

  it.each([
    'git status',
    'echo "$HOME" && git log',
    "git log --format='%h $x push'",
    `git commit -m "$(cat <<'EOF'\nAdd push notifications to git hooks\n\nEOF\n)"`,
    `cd sub && git commit -am "$(cat <<'EOF'\nPush less often\nEOF\n)" && git log`,
    "git log --grep 'pushed' $x",
  ])('a deny rule for git push does not deny %j', command => expect(verdict(command)).toBe('ask'))

  it('a deny rule for git push denies a push after a commit message in a here-document', () => {
    expect(verdict(`git commit -m "$(cat <<'EOF'\nAdd a file\nEOF\n)" && git push`)).toBe('deny')
    expect(verdict(`git commit -m "$(cat <<'EOF'\nAdd a file\nEOF\n)" && git $(echo push)`)).toBe('deny')
  })
})
