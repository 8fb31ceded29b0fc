/** Tests that the import of Claude Code's permission settings converts the safe entries, and says which ones it leaves out. */
import { describe, expect, it } from 'vitest'
import { type ImportedEntry, importClaudePermissions } from '../src/index.ts'

const options = { folder: '/repo', home: '/home/ada' }
const one = (effect: 'allow' | 'ask' | 'deny', entry: string): ImportedEntry =>
  importClaudePermissions({ [effect]: [entry] }, options)[0] as ImportedEntry // one entry gives one result

describe('an allow entry of Claude Code', () => {
  it.each([
    ['Bash(npm test)', { command: 'npm test' }],
    ['Bash(git log:*)', { command: 'git log', args: 'grammar' }],
    ['Bash(git diff *)', { command: 'git diff', args: 'grammar' }],
    ['Read(src/**)', { action: 'read', path: '/repo/src/**' }],
    ['Read(//etc/hosts)', { action: 'read', path: '/etc/hosts' }],
    ['Edit(/docs/**)', { action: 'write', path: '/repo/docs/**' }],
    ['Read(~/notes.md)', { action: 'read', path: '/home/ada/notes.md' }],
    ['WebFetch(domain:docs.example.com)', { action: 'fetch', host: 'docs.example.com' }],
    ['mcp__github__get_issue', { mcp: { server: 'github', tool: 'get_issue' } }],
  ])('%s becomes a rule for the folder', (entry, match) => {
    const { rule } = one('allow', entry)
    expect(rule).toEqual({
      effect: 'allow',
      ...match,
      scope: { cwd: '/repo' },
      note: `Imported from Claude Code: ${entry}`,
    })
  })
  it.each([
    'Bash',
    'Bash(*)',
    'Bash(bash:*)',
    'Bash(sudo:*)',
    'Bash(git * main)',
    'Bash(cat $HOME/x)',
    'Bash(npm test && rm -rf build)',
    'Read',
    'Read(*.ts)',
    'WebFetch(domain:*.example.com)',
    'mcp__github',
    'Agent(x)',
    '???',
  ])('%s is left out with a reason', entry => {
    const { rule, remark } = one('allow', entry)
    expect(rule).toBeNull()
    expect(remark).toMatch(/\.$/)
  })
  it('an allow entry of Claude Code with a prefix is converted to a narrower rule, and the remark says so', () => {
    expect(one('allow', 'Bash(git log:*)').remark).toMatch(/only arguments of “git log”/)
  })
})

describe.each(['deny', 'ask'] as const)('a %s entry of Claude Code', effect => {
  it.each([
    ['Bash(rm:*)', { command: 'rm' }],
    ['Bash(git push *)', { command: 'git push' }],
    ['Bash(curl http* -o x)', { command: 'curl' }],
    ['Read(./.env)', { path: '/repo/.env' }],
    ['Read(secrets/**)', { path: '/repo/secrets/**' }],
    ['Read(config/*.key)', { path: '/repo/config/**' }],
    ['Edit(docs/**)', { action: 'write', path: '/repo/docs/**' }],
    ['Bash', { action: 'shell' }],
    ['WebFetch', { tool: 'WebFetch' }],
    ['mcp__github', { mcp: { server: 'github' } }],
  ])('%s becomes a rule that matches at least as much', (entry, match) => {
    expect(one(effect, entry).rule).toMatchObject({ effect, ...match })
  })

  it('Read(…) becomes a rule that also matches commands and searches that read the file', () => {
    expect(one(effect, 'Read(./src/private/**)').rule).not.toHaveProperty('action')
  })
})
