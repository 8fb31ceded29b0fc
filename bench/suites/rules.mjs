/** Measures how long the rules take for a verdict: for everyday commands, with very many rules for commands, paths and folders, and for a hostile text; and how long watchers take for a call. */
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { canonicalJson } from '@holdpoint/protocol'
import { parseRuleFile, RuleSet, WatcherSet } from '@holdpoint/rules'
import { machineFiles } from '../../packages/cli/dist/gateway/machine-files.js'
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
const contextIn = folder => ({
  folder,
  builtIn: { protectedFolder: null, cwd: folder },
  driver: 'claude',
  session: null,
  agentPath: [],
  isEditable: true,
  now: 0,
  home: '/home/ada',
  files: machineFiles,
  runner: null,
  isUsedUp: () => false,
})
const callOf = (command, folder) => ({
  tool: 'Bash',
  input: { command },
  cwd: folder,
  action: { shell: command, cwd: folder },
})
const everydayCalls = folder => commands.map(command => callOf(command, folder))

const groups = scope => [
  { effect: 'allow', group: 'only-reads', scope },
  { effect: 'allow', group: 'project-code', scope },
]

/** Returns rules for other commands, and the two groups. */
function rulesOf(folder, count) {
  const scope = { cwd: folder }
  const ruleFor = i =>
    i % 2 === 0
      ? { effect: 'allow', command: `npm run task-${i}`, scope }
      : { effect: i % 4 === 1 ? 'deny' : 'ask', command: `tool-${i} deploy`, scope }
  return stored([...groups(scope), ...Array.from({ length: count - 2 }, (_, i) => ruleFor(i + 2))])
}

const filesPerFolder = 100
/** Makes a project with files, some of which are links, and returns rules that deny, ask and allow for each path, and the two groups. */
function pathRules(folder, count) {
  const rules = Array.from({ length: count - 2 }, (_, i) => {
    const parent = join(folder, 'kept', `folder-${Math.floor(i / filesPerFolder)}`)
    if (i % filesPerFolder === 0) mkdirSync(parent, { recursive: true })
    const path = join(parent, `file-${i}`)
    const target = join(folder, 'elsewhere', `file-${i}`)
    if (i % 1000 === 7) {
      writeFileSync(target, '')
      symlinkSync(target, path)
    }
    if (i % 2 === 0) writeFileSync(path, '')
    const effect = ['deny', 'ask', 'allow'][i % 3]
    return { effect, path, ...(effect === 'allow' && { action: 'write' }), scope: { cwd: folder } }
  })
  return stored([...groups({ cwd: folder }), ...rules])
}

/** Returns rules that each apply in another folder, a tenth of which exist, and the two groups. */
function folderRules(folder, count) {
  const rules = Array.from({ length: count - 2 }, (_, i) => {
    const cwd = join(folder, 'projects', `project-${i}`)
    if (i % 10 === 0) mkdirSync(cwd, { recursive: true })
    const effect = ['deny', 'ask', 'allow'][i % 3]
    const target = effect === 'allow' ? { command: 'npm test' } : { tool: i % 2 === 0 ? 'Bash' : 'Write' }
    return { effect, ...target, scope: { cwd } }
  })
  return stored([...groups({ cwd: folder }), ...rules])
}

function stored(rules) {
  return rules.map((rule, index) => ({
    ...rule,
    id: `rul_${String(index).padStart(20, '0')}`,
    madeBy: '',
    madeAt: 0,
    version: 1,
  }))
}

/** Returns the median time of one call. */
function timeOf(run, rounds, calls) {
  const times = []
  for (let round = 0; round < rounds; round++)
    for (const call of calls) {
      const start = process.hrtime.bigint()
      run(call)
      times.push(msSince(start))
    }
  return median(times)
}

/** The everyday calls, and calls that write files. */
function callsIn(folder) {
  const writes = ['kept/folder-3/file-300', 'src/a.ts', 'kept/folder-5/new', 'elsewhere/file-7'].map(path => ({
    tool: 'Write',
    input: { file_path: join(folder, path), content: '' },
    cwd: folder,
    action: { write: [join(folder, path)] },
  }))
  return [...everydayCalls(folder), ...writes]
}

async function verdictsWithPaths(folder, rounds) {
  const project = join(realpathSync(folder), 'project')
  mkdirSync(join(project, 'elsewhere'), { recursive: true })
  const calls = callsIn(project)
  const context = contextIn(project)
  const sets = [
    new RuleSet(stored(groups({ cwd: project }))),
    new RuleSet(pathRules(project, 10_000)),
    new RuleSet(folderRules(project, 10_000)),
  ]
  // Let some time pass: the files of a real project have rarely changed within the last seconds.
  await sleep(unchangedMs)
  return sets.map(set => timeOf(call => set.evaluate(call, context), rounds, calls))
}
const unchangedMs = 4000

/** Makes a repository with a few files, in which git and tools find what they look for. */
function everydayProject(folder) {
  const project = join(realpathSync(folder), 'everyday')
  for (const path of ['.git/objects', '.git/refs', 'node_modules/.bin', 'packages/engine/test', 'src'])
    mkdirSync(join(project, path), { recursive: true })
  writeFileSync(join(project, '.git/HEAD'), 'ref: refs/heads/main\n')
  writeFileSync(join(project, '.git/config'), '[core]\n\tbare = false\n')
  for (const path of ['node_modules/.bin/vitest', 'packages/engine/test/rules.test.ts', 'README.md', 'src/index.ts'])
    writeFileSync(join(project, path), '')
  return project
}

/** Returns a file with 200 watchers as people write them. Each of them sees every call or every shell command, and reads variables, the call, its risk and the recent calls. */
function watchFile() {
  const conditions = [
    '!vars.green && vars.edited > 3',
    'session.cost > 50.0 || session.turn > 500',
    'action.outside && action.paths.exists(path, path.endsWith(".lock"))',
    'risk.level == "dangerous" && !("network" in risk.touches)',
    'recent("10m").filter(call, call.digest == action.digest).size() >= 3',
    'action.command.contains("--force")',
    '(now.hour < 7 || now.hour >= 22) && "network" in risk.touches',
    'vars.task == "" && action.kind == "write"',
    'session.driver == "codex" && session.branch == "main"',
    'vars.edited > 10 && session.minutes > 60.0',
    'action.host.endsWith(".example.com")',
    'session.agentPath.exists(name, name == "reviewer")',
    '"installs" in risk.touches && !vars.green',
    'session.idleSeconds > 600.0',
    'action.server == "github" && action.tool.contains("delete_")',
    'risk.touches.exists(touch, touch == "publishes" || touch == "secrets")',
  ]
  const watch = Array.from({ length: 200 }, (_, i) => ({
    name: `watcher-${i}`,
    on: 'before',
    when: conditions[i % conditions.length],
    ...(i % 4 === 1 && { command: i % 8 === 1 ? 'git commit' : `tool-${i} deploy` }),
    do: i % 2 === 0 ? { deny: `Reason ${i}.` } : { ask: `Reason ${i}.` },
  }))
  const content = { vars: { green: true, edited: 0, task: 'x' }, watch }
  const { vars, watchers } = parseRuleFile(JSON.stringify(content), null)
  const source = { file: '/data/holdpoint.rules.json', trusted: true, project: false }
  return { id: 'own', source, version: 1, folder: null, vars, watchers }
}

function passOf(call, context) {
  return {
    moments: ['before'],
    session: {
      driver: 'claude',
      folder: context.folder,
      mode: '',
      branch: 'main',
      turn: 3,
      idleSeconds: 0,
      agentPath: [],
    },
    call,
    isQuestion: false,
    risk: { level: 'notable', touches: ['project-code'] },
    result: null,
    prompt: '',
    context,
    localTime: { hour: 12, minute: 0, weekday: 1 },
    recent: Array.from({ length: 100 }, (_, i) => ({ key: `k${i}`, tool: 'Bash', digest: `d${i}`, at: 0, ok: true })),
    digest: 'd',
    values: () => ({ green: true }),
    fired: () => undefined,
    spent: () => ({ cost: 1, tokens: 1000, turns: 3, minutes: 5 }),
  }
}

export async function measure({ folder, quick }) {
  const rounds = quick ? 50 : 500
  const project = everydayProject(folder)
  const context = contextIn(project)
  const everyday = everydayCalls(project)
  const few = new RuleSet(rulesOf(project, 20))
  const many = new RuleSet(rulesOf(project, 10_000))
  const long = callOf(`echo ${'$('.repeat(512 * 1024)}`, project)
  const evaluate = rules => call => rules.evaluate(call, context)
  // The files of a project have rarely changed within the last seconds.
  await sleep(unchangedMs)
  timeOf(evaluate(few), 20, everyday)
  const verdict = timeOf(evaluate(few), rounds, everyday)
  const longTimes = [1, 2, 3].map(() => {
    const start = process.hrtime.bigint()
    evaluate(many)(long)
    return msSince(start)
  })
  const [bare, paths, folders] = await verdictsWithPaths(folder, quick ? 10 : 50)
  const watchers = new WatcherSet([watchFile()])
  const watch = call => watchers.evaluate(passOf(call, context))
  timeOf(watch, 20, everyday)
  const start = process.hrtime.bigint()
  canonicalJson(long)
  return {
    verdict_ms: { measured: verdict, bare: timeOf(call => canonicalJson(call), rounds, everyday) },
    verdict_many_rules_ms: { measured: timeOf(evaluate(many), rounds, everyday), bare: verdict },
    verdict_many_paths_ms: { measured: paths, bare },
    verdict_many_folders_ms: { measured: folders, bare },
    watch_pass_ms: { measured: timeOf(watch, rounds, everyday), bare: verdict },
    verdict_long_ms: { measured: median(longTimes), bare: msSince(start) },
  }
}
