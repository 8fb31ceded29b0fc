/** Tests the ready-made watchers: each of them is evaluated in the situations for which it was made. */
import { describe, expect, it } from 'vitest'
import { readyMadeWatchers } from '../../src/watch/ready-made.ts'
import { bash, evaluate, now, type PassOptions, write } from './watch-kit.ts'

const use = (entry: unknown, pass: PassOptions) => evaluate({ use: [entry] }, pass)
const after: PassOptions = { moments: ['after'] }
const ok = { ok: true, exitCode: 0, text: '' }

describe('ready-made watchers', () => {
  it('each of the ready-made watchers has a name, a description of one sentence, and settings that work without values', () => {
    expect(readyMadeWatchers.map(({ name }) => name)).toEqual([
      'tests-before-commit',
      'no-edits-outside',
      'task-first',
      'reminder-at-stop',
      'context-at-start',
      'budget',
      'quiet-hours',
      'loop-guard',
      'no-questions',
    ])
    for (const { name, description } of readyMadeWatchers) {
      expect(description).toMatch(/^[A-Z][^.]*\.$/)
      expect(use(name, { moments: ['start'] }).verdict).toBeNull()
    }
  })
  it('tests-before-commit denies a commit until the tests have passed, and again after a change', () => {
    const commit = { call: bash('git commit -m x') }
    expect(use('tests-before-commit', commit)).toMatchObject({
      verdict: 'deny',
      reason: 'The tests have not passed since the last change. Run npm test, and commit when it has passed.',
    })
    expect(use('tests-before-commit', { ...commit, vars: { testsPassed: true } }).verdict).toBeNull()
    const ran = (result: typeof ok) => use('tests-before-commit', { ...after, call: bash('npm test'), result }).firings
    expect(ran(ok)).toMatchObject([{ set: { testsPassed: true } }])
    expect(ran({ ...ok, ok: false })).toMatchObject([{ set: { testsPassed: false } }])
    expect(use('tests-before-commit', { ...after, call: write('a'), result: ok }).firings).toMatchObject([
      { set: { testsPassed: false } },
    ])
  })
  it('tests-before-commit uses the commands of its settings', () => {
    const entry = { name: 'tests-before-commit', with: { tests: 'make check', commit: 'git push' } }
    expect(use(entry, { call: bash('git push') }).reason).toContain('Run make check,')
    expect(use(entry, { call: bash('git commit') }).verdict).toBeNull()
    expect(use(entry, { ...after, call: bash('make check'), result: ok }).firings).toHaveLength(1)
  })
  it('no-edits-outside asks about a file outside the folder, but not about a file in the folder', () => {
    expect(use('no-edits-outside', { call: write('/etc/hosts') }).verdict).toBe('ask')
    expect(use('no-edits-outside', { call: write('src/a') }).verdict).toBeNull()
  })
  it('task-first denies changes until the agent has named its task', () => {
    expect(use('task-first', { call: write('a') }).verdict).toBe('deny')
    expect(use('task-first', { call: bash('ls') }).verdict).toBeNull()
    expect(use('task-first', { call: write('a'), vars: { task: '#12' } }).verdict).toBeNull()
  })
  it('reminder-at-stop reminds once after a change without passing tests', () => {
    const stop: PassOptions = { moments: ['stop'], vars: { changes: 2 } }
    expect(use('reminder-at-stop', stop).say).toEqual(['Files were changed, and npm test has not passed since.'])
    expect(use('reminder-at-stop', { ...stop, fired: { count: 1, lastAt: now } }).say).toEqual([])
    expect(use('reminder-at-stop', { moments: ['stop'] }).say).toEqual([])
    const changed = { ...after, call: write('a'), result: ok, vars: { changes: 2 } }
    expect(use('reminder-at-stop', changed).firings).toMatchObject([{ set: { changes: 3 } }])
    const passed = { ...after, call: bash('npm test'), result: ok, vars: { changes: 2 } }
    expect(use('reminder-at-stop', passed).firings).toMatchObject([{ set: { changes: 0 } }])
  })
  it('context-at-start gives the agent its text once, with the branch', () => {
    expect(use('context-at-start', { moments: ['start'] }).say).toEqual([
      'The folder is /srv/app, and the branch is main.',
    ])
    const entry = { name: 'context-at-start', with: { text: 'Turn ${session.turn}.' } }
    expect(use(entry, { moments: ['start', 'before'], call: bash('ls') }).say).toEqual(['Turn 1.'])
  })
  it('budget asks at its amount, which is 5 US dollars in a session unless a setting says otherwise', () => {
    expect(use('budget', { spent: { cost: 5 } }).reason).toContain('5.00 of 5.00 US dollars')
    expect(use('budget', { spent: { cost: 4.9 } }).verdict).toBeNull()
    const turns = { name: 'budget', with: { turns: 3, per: 'folder' } }
    expect(use(turns, { spent: { cost: 90, turns: 2 } }).verdict).toBeNull()
    expect(use(turns, { spent: { turns: 3 } }).reason).toContain('The sessions in this folder have used 3 of 3 turns')
  })
  it.each([
    [{}, 22, true],
    [{}, 6, true],
    [{}, 7, false],
    [{}, 21, false],
    [{ from: 9, to: 17 }, 9, true],
    [{ from: 9, to: 17 }, 17, false],
  ])('quiet-hours with %j at %i o’clock asks about the network: %s', (settings, hour, asks) => {
    const pass: PassOptions = {
      call: bash('curl x'),
      risk: { level: 'notable', touches: ['network'] },
      localTime: { hour, minute: 0, weekday: 1 },
    }
    expect(use({ name: 'quiet-hours', with: settings }, pass).verdict).toBe(asks ? 'ask' : null)
    expect(use({ name: 'quiet-hours', with: settings }, { ...pass, risk: null }).verdict).toBeNull()
  })
  it('loop-guard asks about the third identical call within ten minutes', () => {
    const call = (digest: string, minutes: number) => ({
      key: digest,
      tool: 'Bash',
      digest,
      at: now - minutes * 60_000,
    })
    const pass = { call: bash('ls'), digest: 'd' }
    expect(use('loop-guard', { ...pass, recent: [call('d', 5), call('e', 4), call('d', 3)] })).toMatchObject({
      verdict: 'ask',
      reason: 'The agent has made the same call 3 times within 10m.',
    })
    expect(use('loop-guard', { ...pass, recent: [call('d', 11), call('d', 3)] }).verdict).toBeNull()
    const entry = { name: 'loop-guard', with: { times: 2, within: '1h' } }
    expect(use(entry, { ...pass, recent: [call('d', 50)] }).verdict).toBe('ask')
  })
  it('no-questions denies questions while the variable `directive` is set', () => {
    expect(use('no-questions', { isQuestion: true, vars: { directive: 'stop' } })).toMatchObject({
      verdict: 'deny',
      reason: 'Do not ask; act on the directive: stop',
    })
    expect(use('no-questions', { isQuestion: true }).verdict).toBeNull()
  })
})
