/** Tests that the ask rule for a resumed call is as narrow as possible, and that the real CLI applies it even if other rules allow the call. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { InputQueue } from '../../src/claude/cli/input-queue.ts'
import { askRuleFor } from '../../src/claude/resuming/ask-rule.ts'
import { findClaude, loadSdk } from '../../src/claude/setup/sdk.ts'
import { claudeEnvironment, say, TestModel, toolUse } from './model.ts'

const home = mkdtempSync(join(tmpdir(), 'holdpoint-ask-rule-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

const rules: readonly (readonly [string, string])[] = [
  ['mkdir -p a/b', 'Bash(mkdir -p a/b)'],
  ['echo ran >> ran.txt', 'Bash(echo ran)'],
  ['echo ran 2>&1', 'Bash(echo ran)'],
  ['echo a && echo b', 'Bash(echo a)'],
  ['echo c; rm -rf x', 'Bash(echo c)'],
  ['echo d | cat', 'Bash(echo d)'],
  ['cat < in.txt', 'Bash(cat)'],
  ['sleep 1 & echo e', 'Bash(sleep 1)'],
  ['npm run f -- --x=1', 'Bash(npm run f -- --x=1)'],
  ['timeout 5 echo g', 'Bash(timeout 5 echo g)'],
  // The first simple command cannot be found in these command lines without parsing the shell language, so the rule must match the whole tool.
  ['echo "h"', 'Bash'],
  ['echo $(date)', 'Bash'],
  ['echo *', 'Bash'],
  ['X=1 echo i', 'Bash'],
  ['if true; then echo j; fi', 'Bash'],
  ['echo k\necho l', 'Bash'],
  ['cat <<EOF', 'Bash'],
  [' echo m', 'Bash'],
  ['(echo n)', 'Bash'],
]

it('askRuleFor returns a rule of Claude Code for the first simple command or for a path that needs no escaping, and otherwise for the whole tool', () => {
  expect(rules.map(([command]) => [command, askRuleFor({ tool: 'Bash', input: { command } })])).toEqual(rules)
  const path = (file_path: string, tool = 'Write') => askRuleFor({ tool, input: { file_path } })
  expect(path('/srv/a-1_b.ts')).toBe('Edit(//srv/a-1_b.ts)')
  expect(path('/srv/.env', 'Edit')).toBe('Edit(//srv/.env)')
  for (const odd of ['/srv/a b', '/srv/[a]', '/srv/*', '/srv/../etc', '/srv/./a', 'a.ts', '/srv/(a)', '/srv//a'])
    expect(path(odd)).toBe('Write')
  expect(askRuleFor({ tool: 'WebFetch', input: { url: 'https://example.org' } })).toBe('WebFetch')
})

it('an ask rule makes Claude Code ask about the matching call, even if another rule allows the tool', async () => {
  const cwd = join(home, 'cwd')
  mkdirSync(cwd)
  const exact = rules.filter(([, rule]) => rule !== 'Bash')
  const inputs = [
    ...exact.map(([command]) => ({ tool: 'Bash', input: { command, description: 'x' } })),
    { tool: 'Write', input: { file_path: join(cwd, 'a-1_b.ts'), content: 'x' } },
    { tool: 'Write', input: { file_path: join(cwd, '.env'), content: 'x' } },
  ]
  const model = await TestModel.open(({ results }) => {
    const next = inputs[results.length]
    return next ? [toolUse(next.tool, next.input, `toolu_${results.length}`)] : [say('done')]
  })
  const claude = findClaude({})
  if ('missing' in claude) throw new Error(claude.missing)
  const { sdk } = await loadSdk(claude.found)
  const messages = new InputQueue<
    Parameters<typeof sdk.query>[0]['prompt'] extends string | AsyncIterable<infer T> ? T : never
  >()
  messages.push({ type: 'user', message: { role: 'user', content: 'go' }, parent_tool_use_id: null })
  const asked: string[] = []
  const query = sdk.query({
    prompt: messages,
    options: {
      cwd,
      env: { ...claudeEnvironment(model, home) },
      permissionMode: 'acceptEdits',
      settingSources: [],
      settings: { permissions: { allow: ['Bash', 'Edit', 'Write'], ask: inputs.map(askRuleFor) } },
      canUseTool: async (_tool, _input, { toolUseID }) => {
        asked.push(toolUseID)
        return { behavior: 'deny', message: 'only a test' }
      },
    },
  })
  for await (const message of query) if (message.type === 'result') messages.close()
  await model.server.close()
  expect(asked).toEqual(inputs.map((_, index) => `toolu_${index}`))
})
