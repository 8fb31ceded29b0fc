/** An external agent for tests, and sample asks of every kind. */
import type { Ask, Request, Session } from '@holdpoint/protocol'
import type { GatewayProcess } from './gateway.ts'

export interface TestAgent {
  readonly session: Session
  ask(ask: Ask, more?: { readonly deadlineMs?: number; readonly agentPath?: readonly string[] }): Promise<Request>
}

export async function openTestAgent(
  gateway: GatewayProcess,
  title = 'api-server',
  cwd = '/src/api',
): Promise<TestAgent> {
  const session = await gateway.call('startSession', { driver: 'external', title, cwd })
  let askCount = 0
  return {
    session,
    ask: (ask, { agentPath, ...more } = {}) =>
      gateway.call('openRequest', {
        id: session.id,
        key: `ask-${++askCount}`,
        ask,
        ...more,
        ...(agentPath && { agentPath: [...agentPath] }),
      }),
  }
}

const approval = { kind: 'approval', cwd: '/src/api', editable: true } as const

export const asks = {
  command: (command = 'npm run migrate -- --env staging'): Ask => ({
    ...approval,
    tool: 'Bash',
    title: 'Migrate the staging database',
    input: { command, description: 'Migrate the staging database' },
  }),
  dangerous: (): Ask => ({
    ...approval,
    tool: 'Bash',
    title: 'Remove the home folder',
    input: { command: 'rm -rf ~/' },
    caution: { defaultToNo: true, noRemember: true, reason: 'It would remove everything you own.' },
  }),
  write: (lines = 12): Ask => ({
    ...approval,
    tool: 'Write',
    title: 'Write src/greeting.ts',
    input: {
      file_path: '/src/api/src/greeting.ts',
      content: Array.from({ length: lines }, (_, i) => `export const greeting${i} = 'hello ${i}'`).join('\n'),
    },
  }),
  edit: (): Ask => ({
    ...approval,
    tool: 'Edit',
    title: 'Change src/retry.ts',
    input: {
      file_path: '/src/api/src/retry.ts',
      old_string: 'export function retry() {\n  const tries = 3\n  return tries\n}',
      new_string: 'export function retry() {\n  const tries = 8 \n\tlog(tries)\n  return tries\n}',
    },
  }),
  plan: (): Ask => ({
    ...approval,
    tool: 'ExitPlanMode',
    title: 'Approve the plan',
    plan: '# Plan\n\n1. Read the schema\n2. Write the **migration**\n3. Run the tests',
    input: { plan: '# Plan\n\n1. Read the schema\n2. Write the **migration**\n3. Run the tests' },
  }),
  fields: (): Ask => ({
    ...approval,
    tool: 'mcp__tracker__create_issue',
    title: 'Create an issue',
    input: {
      project: 'API',
      title: 'Flaky test',
      labels: ['bug', 'ci'],
      assignee: null,
      points: 3,
      nested: { deep: true },
    },
  }),
  suggested: (): Ask => ({
    ...approval,
    tool: 'Bash',
    title: 'Run the tests',
    input: { command: 'npm test' },
    suggestions: [
      { id: 's1', label: 'npm test', scope: 'session' },
      { id: 's2', label: 'npm test', scope: 'localSettings' },
    ],
  }),
  questions: (): Ask => ({
    kind: 'questions',
    questions: [
      {
        id: 'format',
        header: 'Format',
        question: 'How should the output look?',
        options: [
          { label: 'Summary', description: 'a brief overview', preview: 'One line per module.' },
          { label: 'Detailed', description: 'everything', preview: '# Module a\n\nAll of it.' },
        ],
        multiSelect: false,
        allowOther: true,
        secret: false,
      },
      {
        id: 'targets',
        header: 'Targets',
        question: 'Which targets?',
        options: [{ label: 'Linux' }, { label: 'macOS' }, { label: 'Windows' }],
        multiSelect: true,
        allowOther: true,
        secret: false,
      },
    ],
  }),
  secret: (): Ask => ({
    kind: 'questions',
    questions: [
      {
        id: 'key',
        header: 'Key',
        question: 'The deploy key?',
        options: [],
        multiSelect: false,
        allowOther: true,
        secret: true,
      },
    ],
  }),
  form: (): Ask => ({
    kind: 'form',
    title: 'Release',
    message: 'Tell me about the release.',
    schema: {
      type: 'object',
      properties: {
        version: { type: 'string', title: 'Version', minLength: 1 },
        count: { type: 'integer', title: 'Replicas', minimum: 1, maximum: 9, default: 2 },
        notify: { type: 'boolean', title: 'Tell the team', default: true },
        channel: { type: 'string', title: 'Channel', enum: ['stable', 'beta'] },
        regions: { type: 'array', title: 'Regions', items: { enum: ['eu', 'us', 'ap'] }, minItems: 1 },
      },
      required: ['version', 'channel', 'regions'],
    },
  }),
  link: (): Ask => ({
    kind: 'form',
    title: 'Sign in to the tracker',
    message: 'Open the link and sign in.',
    url: 'https://tracker.example/sign-in?state=abc',
    schema: { type: 'object', properties: {} },
  }),
} as const
