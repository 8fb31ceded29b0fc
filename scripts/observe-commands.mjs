/** Runs commands under strace in a temporary folder and records their effects: which files they write and delete, which programs they start, and whether they use the network. The result is test data for the labels of packages/rules. */
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { makeObservedProject } from '../packages/rules/test/support/observed-project.mjs'

const data = join(import.meta.dirname, '../packages/rules/test/data')
const readJson = name => JSON.parse(readFileSync(join(data, name), 'utf8'))
const calls =
  'execve,open,openat,openat2,creat,unlink,unlinkat,rmdir,rename,renameat,renameat2,mkdir,mkdirat,link,linkat,symlink,symlinkat,truncate,chmod,fchmodat,chown,fchownat,lchown,mknod,mknodat,connect,sendto,chdir'

const base = realpathSync(mkdtempSync(join(tmpdir(), 'holdpoint-observed-')))
process.on('exit', () => rmSync(base, { recursive: true, force: true }))
const templates = { files: join(base, 'template-files'), settings: join(base, 'template-settings') }
for (const [hostile, folder] of Object.entries(templates)) {
  mkdirSync(folder)
  makeObservedProject(folder, hostile)
}

/** Returns the paths of everything in a folder. */
function pathsIn(folder) {
  return new Set(readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(path => join(folder, path)))
}

const root = join(base, 'run')
const [project, outside, home] = ['project', 'outside', 'home'].map(name => join(root, name))
/** The template of which the folder is still an unchanged copy, so that the template need not be copied again. */
let unchanged = null

function prepare(hostile) {
  if (unchanged === hostile) return
  rmSync(root, { recursive: true, force: true })
  cpSync(templates[hostile], project, { recursive: true })
  for (const folder of [outside, home]) mkdirSync(folder, { recursive: true })
  mkdirSync(join(project, 'empty'))
  writeFileSync(join(outside, 'file.txt'), 'x')
  for (const name of ['.bashrc', '.profile']) writeFileSync(join(home, name), '')
}

function observe(command, hostile) {
  prepare(hostile)
  const before = pathsIn(root)
  const trace = join(base, 'trace')
  spawnSync('strace', ['-f', '-y', '-s', '4096', '-e', `trace=${calls}`, '-o', trace, 'bash', '-c', command], {
    cwd: project,
    stdio: ['ignore', 'ignore', 'ignore'],
    timeout: 20_000,
    env: {
      PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
      HOME: home,
      LANG: 'C.UTF-8',
      TMPDIR: join(home),
      npm_config_registry: 'http://127.0.0.1:9/',
      npm_config_fetch_retries: '0',
      npm_config_update_notifier: 'false',
      PIP_INDEX_URL: 'http://127.0.0.1:9/',
      PIP_RETRIES: '0',
      GIT_TERMINAL_PROMPT: '0',
    },
  })
  const found = readTrace(readFileSync(trace, 'utf8'), project)
  const inProject = path => path === project || path.startsWith(`${project}/`)
  const shown = path =>
    inProject(path) ? relative(project, path) || '.' : path.startsWith(`${root}/`) ? `../${relative(root, path)}` : path
  // Process ids and times in names would change with every run.
  const list = paths => [...new Set([...paths].map(path => shown(path).replace(/\d{3,}[\dTZ_-]*/g, 'N')))].sort()
  unchanged = found.wrote.size + found.deleted.size === 0 ? hostile : null
  return {
    command,
    hostile,
    ran: [...found.ran].map(shown).sort(),
    wrote: list([...found.wrote].filter(path => inProject(path))),
    wroteOutside: list([...found.wrote].filter(path => !inProject(path))),
    // Files that the command created itself do not count as deleted. A file that replaces another one deletes it.
    deleted: list([
      ...[...found.deleted].filter(path => before.has(path)),
      ...found.renamed.filter(([from, to]) => before.has(from) && before.has(to)).map(([, to]) => to),
    ]),
    network: found.network,
    evil: existsSync(join(project, 'PWNED')) || existsSync(join(project, 'hooks/PWNED')),
  }
}

/** Files that every program may write. */
const ignored = /^\/dev\/(?:null|tty|pts\/.*|shm\/.*|urandom)$|^\/proc\/|^pipe:|^\(/

function readTrace(text, start) {
  const found = { ran: new Set(), wrote: new Set(), deleted: new Set(), renamed: [], network: false }
  const folders = new Map()
  for (const line of text.split('\n')) {
    const match = /^(\d+) +(\w+)\((.*)\) += (-?\d+)/.exec(line)
    if (!match) continue
    const [, pid, call, args, result] = match
    const at = /AT_FDCWD<([^>]*)>/.exec(args)?.[1]
    if (at) folders.set(pid, at)
    const cwd = folders.get(pid) ?? start
    const strings = [...args.matchAll(/(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"/g)].map(([, folder, path]) =>
      resolvePath(folder ?? cwd, path),
    )
    if (call === 'connect' || call === 'sendto') {
      if (/sa_family=AF_INET6?/.test(args)) found.network = true
      continue
    }
    if (Number(result) < 0) continue
    const [first = '', second = ''] = strings
    if (call === 'chdir') folders.set(pid, first)
    else if (call === 'execve') found.ran.add(first)
    else if (/^open|^creat/.test(call)) {
      if ((/O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND/.test(args) || call === 'creat') && !ignored.test(first))
        found.wrote.add(first)
    } else if (/^(?:unlink|rmdir)/.test(call)) found.deleted.add(first)
    else if (/^rename/.test(call)) {
      found.renamed.push([first, second])
      found.wrote.add(second)
      if (!second.startsWith(`${start}/`)) found.deleted.add(first)
    } else if (/^(?:symlink|link)/.test(call)) found.wrote.add(second)
    else if (!ignored.test(first)) found.wrote.add(first)
  }
  return found
}

function resolvePath(folder, path) {
  return isAbsolute(path) ? path : resolve(folder, path)
}

if (spawnSync('strace', ['true']).status !== 0) {
  console.error('strace cannot observe programs here. Install it (apt-get install strace), and allow ptrace.')
  process.exit(1)
}
const reading = readJson('program-uses.json')['only-reads']
const records = [
  ...['files', 'settings'].flatMap(hostile => reading.map(command => observe(command, hostile))),
  ...readJson('risk-commands.json').map(command => observe(command, 'files')),
]
writeFileSync(
  join(data, 'observed-commands.json'),
  `[\n${records.map(record => ` ${JSON.stringify(record)}`).join(',\n')}\n]\n`,
)
console.log(`Observed ${records.length} runs.`)
