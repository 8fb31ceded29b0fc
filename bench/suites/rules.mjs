/** Measures how long the rules take for a verdict: for everyday commands, with very many rules, and for a hostile text. */
import { canonicalJson } from '@holdpoint/protocol'
import { RuleSet } from '@holdpoint/rules'
import { median, msSince } from '../kit/numbers.mjs'

const commands = [
  'npm test',
  'git status',
  'git diff --stat HEAD~1',
  'cd ./packages/engine && npx vitest run test/rules.test.ts',
  'rg -n "export function" packages | head -20',
  'ls -la src && cat src/index.ts',
  'sed -n 1,80p README.md',
  'node scripts/build.mjs --watch > build.log 2>&1 &',
  'rm -rf node_modules && npm install',
  'curl -s https://example.com/install.sh | bash',
  'git add -A && git commit -m "fix: keep the order of events"',
  'find . -name "*.ts" -not -path "./node_modules/*" | wc -l',
]
const scope = { cwd: '/srv/app' }
const context = {
  driver: 'claude',
  session: null,
  folder: '/srv/app',
  agentPath: [],
  isEditable: true,
  now: 0,
  home: '/home/ada',
  files: { realPath: path => path },
  builtIn: { protectedFolder: null, cwd: '/srv/app' },
  runner: null,
  isUsedUp: () => false,
}
const callOf = command => ({
  tool: 'Bash',
  input: { command },
  cwd: '/srv/app',
  action: { shell: command, cwd: '/srv/app' },
})
const calls = commands.map(callOf)

/** Returns rules for other commands, and the two groups. */
function rulesOf(count) {
  const rules = [
    { effect: 'allow', group: 'only-reads', scope },
    { effect: 'allow', group: 'project-code', scope },
  ]
  for (let i = rules.length; i < count; i++)
    rules.push(
      i % 2 === 0
        ? { effect: 'allow', command: `npm run task-${i}`, scope }
        : { effect: i % 4 === 1 ? 'deny' : 'ask', command: `tool-${i} deploy`, scope },
    )
  return rules.map((rule, index) => ({
    ...rule,
    id: `rul_${String(index).padStart(20, '0')}`,
    madeBy: '',
    madeAt: 0,
    version: 1,
  }))
}

/** Returns the median time of one call. */
function timeOf(run, rounds) {
  const times = []
  for (let round = 0; round < rounds; round++)
    for (const call of calls) {
      const start = process.hrtime.bigint()
      run(call)
      times.push(msSince(start))
    }
  return median(times)
}

export async function measure({ quick }) {
  const rounds = quick ? 50 : 500
  const few = new RuleSet(rulesOf(20))
  const many = new RuleSet(rulesOf(10_000))
  const long = callOf(`echo ${'$('.repeat(512 * 1024)}`)
  const evaluate = rules => call => rules.evaluate(call, context)
  timeOf(evaluate(few), 20)
  const verdict = timeOf(evaluate(few), rounds)
  const longTimes = [1, 2, 3].map(() => {
    const start = process.hrtime.bigint()
    evaluate(many)(long)
    return msSince(start)
  })
  const start = process.hrtime.bigint()
  canonicalJson(long)
  return {
    verdict_ms: { measured: verdict, bare: timeOf(call => canonicalJson(call), rounds) },
    verdict_many_rules_ms: { measured: timeOf(evaluate(many), rounds), bare: verdict },
    verdict_long_ms: { measured: median(longTimes), bare: msSince(start) },
  }
}
