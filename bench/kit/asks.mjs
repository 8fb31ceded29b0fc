/** The ask used in every measurement: a typical approval with an input of about 300 bytes. */
export const cwd = '/home/someone/projects/shop'

export function askNumbered(n) {
  return {
    kind: 'approval',
    tool: 'Bash',
    input: {
      command: `git diff --stat origin/main...HEAD -- packages/checkout packages/cart && npm test -- --run packages/checkout/test/totals-${n}.test.ts`,
      description: 'Shows what the branch changes in the checkout and runs the tests of its totals before the commit',
      timeoutMs: 120_000,
      runInBackground: false,
    },
    title: 'Run a shell command',
    cwd,
    editable: true,
  }
}

export const answer = { kind: 'allow' }
