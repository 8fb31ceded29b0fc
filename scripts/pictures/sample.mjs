/** Sample data of the screenshots: requests of every kind and the events of one session. */

const approval = (cwd, tool, title, input, more = {}) => ({
  kind: 'approval',
  cwd,
  tool,
  title,
  input,
  editable: true,
  ...more,
})
const api = '/home/you/src/api'
const billing = '/home/you/src/billing'

export const asks = {
  migrate: approval(
    api,
    'Bash',
    'Bash: npm run migrate -- --env staging',
    { command: 'npm run migrate -- --env staging --to 2026-11-add-retries' },
    {
      description: 'Add the column that the new retry logic needs',
      suggestions: [{ id: 's1', label: 'npm run migrate', scope: 'session' }],
    },
  ),
  retry: approval(
    api,
    'Edit',
    'Edit: src/retry.ts',
    {
      file_path: `${api}/src/retry.ts`,
      old_string:
        'export async function retry(task: Task) {\n  for (let i = 0; i < 3; i++) {\n    try {\n      return await task()\n    } catch {}\n  }\n}',
      new_string:
        'export async function retry(task: Task, options = defaults) {\n  for (let i = 0; ; i++) {\n    try {\n      return await task()\n    } catch (error) {\n      if (i === options.attempts) throw error\n      await pause(backoffMs(options, i))\n    }\n  }\n}',
    },
    { action: { write: [`${api}/src/retry.ts`] } },
  ),
  questions: {
    kind: 'questions',
    questions: [
      {
        id: 'q1',
        header: 'Format',
        question: 'How should the changelog look?',
        options: [
          {
            label: 'By area',
            description: 'Grouped under API, page, terminal',
            preview: '## API\n- Retries back off\n\n## Page\n- Drafts survive a reload',
          },
          {
            label: 'By time',
            description: 'One line per merge, newest first',
            preview: '- 14 Nov  Retries back off\n- 13 Nov  Drafts survive a reload',
          },
        ],
        multiSelect: false,
        allowOther: true,
        secret: false,
      },
      {
        id: 'q2',
        header: 'Readers',
        question: 'Who reads it?',
        options: [{ label: 'Users' }, { label: 'Operators' }, { label: 'Contributors' }],
        multiSelect: true,
        allowOther: false,
        secret: false,
      },
    ],
  },
  plan: approval(
    billing,
    'ExitPlanMode',
    'Approve the plan',
    {},
    {
      plan: '# Move invoices to the new ledger\n\n1. **Copy** the open invoices, newest first\n2. Compare sums per customer; stop at the first difference\n3. Switch reads, then writes, behind `LEDGER=new`\n4. Keep the old table for 30 days\n\n> Nothing is deleted in this change.',
    },
  ),
  clean: approval(
    '/home/you/src/infra',
    'Bash',
    'Bash: rm -rf',
    { command: 'rm -rf /var/lib/registry/cache && docker system prune --all --force' },
    { caution: { defaultToNo: true, noRemember: true, reason: 'It removes files outside the working folder.' } },
  ),
  release: {
    kind: 'form',
    title: 'Release 2.4',
    message: 'I need a few details for the release.',
    schema: {
      type: 'object',
      required: ['version', 'channel'],
      properties: {
        version: { type: 'string', title: 'Version', default: '2.4.0' },
        replicas: { type: 'integer', title: 'Replicas', minimum: 1, maximum: 9, default: 3 },
        channel: { type: 'string', title: 'Channel', enum: ['stable', 'beta'] },
        regions: { type: 'array', title: 'Regions', items: { enum: ['eu', 'us', 'ap'] }, default: ['eu'] },
        notify: { type: 'boolean', title: 'Tell the team', default: true },
      },
    },
  },
  secret: {
    kind: 'questions',
    questions: [
      {
        id: 'key',
        header: 'Deploy key',
        question: 'Which key should I deploy with?',
        options: [],
        multiSelect: false,
        allowOther: true,
        secret: true,
      },
    ],
  },
  link: {
    kind: 'form',
    title: 'Sign in to the tracker',
    message: 'I need access to read the open issues.',
    url: 'https://tracker.example/oauth/authorize?client=holdpoint&scope=issues%3Aread',
    schema: { type: 'object', properties: {} },
  },
  issue: approval(api, 'mcp__tracker__create_issue', 'Create an issue', {
    project: 'API',
    title: 'Flaky: retry gives up too early',
    labels: ['bug', 'ci'],
    points: 2,
  }),
  write: approval(
    '/home/you/src/docs',
    'Write',
    'Write: docs/retries.md',
    {
      file_path: '/home/you/src/docs/docs/retries.md',
      content:
        '# Retries\n\nA task that fails is retried. The pause doubles each time.\n\n| attempt | pause |\n|---|---|\n| 1 | 100 ms |\n| 2 | 200 ms |\n| 3 | 400 ms |\n',
    },
    { action: { write: ['/home/you/src/docs/docs/retries.md'] } },
  ),
  test: approval(api, 'Bash', 'Bash: npm test', { command: 'npm test -- retry' }),
  push: approval('/home/you/src/docs', 'Bash', 'Bash: git push', { command: 'git push origin docs/retries' }),
}

const say = (block, text, more) => ({ type: 'message.added', block, text, ...more })
const call = (block, tool, input, more) => ({ type: 'tool.started', block, tool, input, ...more })
const done = (block, output, more) => ({ type: 'tool.finished', block, ok: true, output, ...more })

/** Events of the session in the screenshot, in three parts: before the first request, after its answer, and after the second request. */
export const sessionEvents = [
  say(
    'm1',
    'I looked at `src/retry.ts` first. It gives up after **three** attempts without a pause, so every restart of the database breaks it:\n\n- attempts 1–3 happen within 4 ms\n- the pool needs about 900 ms to come back\n\nI will add growing pauses and let a subagent write the test.',
  ),
  call('t1', 'Read', { file_path: `${api}/src/retry.ts` }),
  done('t1', 'export async function retry(task: Task) {\n  …\n}'),
]
/** What the agent changed, and its to-do list, for the pictures of the terminal. */
export const workEvents = [
  { type: 'session.changed', repository: { root: api, branch: 'docs/retries', commit: null } },
  call('w1', 'Edit', {
    file_path: `${api}/src/retry.ts`,
    old_string: 'const pauseMs = 0\nconst attempts = 3',
    new_string: 'const firstMs = 100\nconst maxMs = 5000\nconst attempts = 8',
  }),
  done('w1', 'The file was updated.'),
  call('w2', 'TodoWrite', {
    todos: [
      { content: 'Add growing pauses', status: 'completed' },
      { content: 'Write a test with a manual clock', status: 'in_progress' },
      { content: 'Push the branch', status: 'pending' },
    ],
  }),
  done('w2', 'Todos were changed.'),
]
/** A turn that failed. */
export const failedTurn = [
  { type: 'error.raised', message: 'The model is overloaded.' },
  { type: 'turn.finished', ending: 'failed' },
]
export const reviewed = [
  call('t2', 'Task', { description: 'Write a test for the new pauses', subagent_type: 'test-writer' }),
  say('m2', 'I use a manual clock, so that the test does not wait for the pauses.', { agentPath: ['test-writer'] }),
  call(
    't3',
    'Write',
    { file_path: `${api}/test/retry.test.ts`, content: "it('doubles the pause after each failure', …)\n" },
    { agentPath: ['test-writer'] },
  ),
  done('t3', 'written', { agentPath: ['test-writer'] }),
  done('t2', 'Added one test. It fails without the fix, as expected.'),
]
export const ran = [
  call('t4', 'Bash', { command: 'npm test -- retry' }),
  done(
    't4',
    ' ✓ doubles the pause after each failure (12 ms)\n ✓ gives up after the last attempt (3 ms)\n\n 2 passed\n',
  ),
  say(
    'm3',
    'Both pass now:\n\n```ts\nconst defaults = { attempts: 8, firstMs: 100, maxMs: 5000 }\n```\n\nThe new column has to be there before the next deploy, so I would like to migrate staging.',
  ),
]
