/** Adds the load of a busy day: 15 sessions and 24 pending requests, some of them with texts that are hard to show. */

const approval = { kind: 'approval', editable: true }
const command = (text, description) => ({
  ...approval,
  tool: 'Bash',
  title: `Bash: ${text.slice(0, 80)}`,
  input: { command: text, ...(description && { description }) },
})
const question = (text, labels, more = {}) => ({
  kind: 'questions',
  questions: [
    {
      id: 'q',
      header: 'Choice',
      question: text,
      options: labels.map(label => ({ label })),
      multiSelect: false,
      allowOther: false,
      secret: false,
      ...more,
    },
  ],
})
const lines = (count, text) => Array.from({ length: count }, (_, at) => text(at)).join('\n')

const titles = {
  api: ['api-server', '/home/you/src/api'],
  docs: ['docs', '/home/you/src/docs'],
  billing: ['billing', '/home/you/src/billing'],
  infra: ['infra', '/home/you/src/infra'],
  web: ['web-shop', '/home/you/src/web-shop'],
  mobile: ['mobile app', '/home/you/src/mobile'],
  search: ['search index', '/home/you/src/search'],
  long: [
    `Upgrade everything ${'and then everything that depends on it '.repeat(7)}`.slice(0, 300),
    '/home/you/src/platform',
  ],
  i18n: ['תרגום לעברית', '/home/you/src/i18n'],
  ci: ['ci-images', '/home/you/src/ci/images/base/debian/trixie/node-24-slim'],
  data: ['data-import', '/home/you/src/data'],
  ops: ['ops', '/home/you/src/ops'],
  design: ['design-system', '/home/you/src/design-system'],
  nightly: ['nightly', '/home/you/src/nightly'],
  idle: ['changelog', '/home/you/src/changelog'],
}

const tenFields = {
  kind: 'form',
  title: 'Release 4.2.0',
  message: 'I need these before I can prepare the release.',
  schema: {
    type: 'object',
    properties: {
      version: { type: 'string', title: 'Version', minLength: 1, default: '4.2.0' },
      channel: { type: 'string', title: 'Channel', enum: ['stable', 'beta', 'nightly'] },
      date: { type: 'string', title: 'Date', format: 'date' },
      replicas: { type: 'integer', title: 'Replicas', minimum: 1, maximum: 9, default: 2 },
      notify: { type: 'boolean', title: 'Tell the team', default: true },
      owner: { type: 'string', title: 'Owner', format: 'email' },
      regions: { type: 'array', title: 'Regions', items: { enum: ['eu', 'us', 'ap'] }, minItems: 1 },
      link: { type: 'string', title: 'Link to the notes', format: 'uri' },
      ratio: { type: 'number', title: 'Share of users', minimum: 0, maximum: 1, default: 0.1 },
      remark: { type: 'string', title: 'Remark', description: 'Shown to everybody who updates.' },
    },
    required: ['version', 'channel', 'regions'],
  },
}

/** The pending requests in the order in which the agents ask: the session, the ask, and further fields of `openRequest`. */
const asked = [
  ['api', command('npm run migrate -- --env staging', 'Migrate the staging database')],
  ['web', command('npm test')],
  ['web', command('npm run lint')],
  ['web', command('npm run build -- --mode production')],
  ['infra', command('terraform plan -out=plan.bin')],
  ['docs', question('Should the old guide redirect to the new one?', ['Yes, redirect', 'No, show both'])],
  ['web', command('npm run test:visual -- --update')],
  ['billing', command('git push --force origin main')],
  ['search', command(`curl -s https://search.example.com/_bulk -d '${'{"index":{"_id":1}} '.repeat(200)}'`)],
  ['i18n', command('cp locales/en.json locales/עברית.json && npm run extract')],
  ['i18n', question('איזו שפה תהיה ברירת המחדל באתר?', ['עברית', 'English', 'العربية'])],
  ['long', command('npx npm-check-updates --upgrade --target minor')],
  [
    'design',
    {
      ...approval,
      tool: 'Edit',
      title: 'Change tokens.css',
      action: { write: ['/home/you/src/design-system/tokens.css'] },
      input: {
        file_path: '/home/you/src/design-system/tokens.css',
        old_string: lines(200, at => `  --color-${at}: #${String(at).padStart(6, '0')};`),
        new_string: lines(200, at => `  --color-${at}: #${String(at + 7).padStart(6, '0')};`),
      },
    },
  ],
  ['web', command('npm run e2e -- --shard 1/4')],
  ['mobile', tenFields],
  [
    'ci',
    {
      ...approval,
      tool: 'Write',
      title: 'Write Dockerfile',
      action: { write: ['/home/you/src/ci/images/base/Dockerfile'] },
      input: { file_path: '/home/you/src/ci/images/base/Dockerfile', content: 'FROM node:24-slim\nRUN npm ci\n' },
    },
  ],
  ['data', command('psql "$DATABASE_URL" -c "delete from imports where created_at < now() - interval \'1 year\'"')],
  ['ops', command('rm -rf /var/lib/app/releases/* && git clean -xfd')],
  ['web', command('npm run e2e -- --shard 2/4')],
  [
    'nightly',
    {
      ...approval,
      tool: 'ExitPlanMode',
      title: 'Approve the plan',
      plan: '# Split the nightly job\n\n1. Move the slow suites to **their own** job\n2. Cache the browsers\n3. Report flaky tests to `#ci`',
      input: {
        plan: '# Split the nightly job\n\n1. Move the slow suites to **their own** job\n2. Cache the browsers\n3. Report flaky tests to `#ci`',
      },
    },
  ],
  [
    'docs',
    {
      ...approval,
      tool: 'mcp__tracker__create_issue',
      title: 'Create an issue',
      input: { project: 'DOCS', title: 'Broken links in the guide', labels: ['bug', 'docs'], points: 2 },
    },
  ],
  ['web', command('npm run e2e -- --shard 3/4')],
  ['api', question('Which database should the tests use?', ['SQLite', 'PostgreSQL', 'Both'], { allowOther: true })],
  ['infra', command('kubectl rollout restart deploy/gateway -n staging'), { deadlineMs: 260_000 }],
]

/** Opens the sessions and requests, one minute apart. The clock of the gateway then shows the current time. */
export async function addLoad(demo) {
  const agents = {}
  for (const [name, [title, cwd]] of Object.entries(titles)) {
    agents[name] = await demo.agent({ title, cwd, mode: 'default', prompt: 'Go on.' })
    await agents[name].say({ type: 'message.added', block: 'm', text: 'I have a question.' })
    await demo.advance(1)
  }
  for (const [name, ask, more] of asked.slice(0, -1)) {
    await agents[name].ask({ ...ask, ...(ask.kind === 'approval' && { cwd: titles[name][1] }) }, more)
    await demo.advance(2)
  }
  // The request with the deadline comes last, when the clock shows the current time.
  await demo.advance(60 * 24)
  const [name, ask, more] = asked.at(-1)
  await agents[name].ask({ ...ask, cwd: titles[name][1] }, more)
  return agents
}
