/** Tests the built-in rule for Holdpoint's own data folder: which calls it denies, and which everyday calls it does not deny. */
import type { JsonObject } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { leastCpuMs } from '../../../test/support/cpu-time.ts'
import { ProtectedFolder } from '../src/index.ts'

const home = '/home/ana'
/** A small file system: each existing path and its real path. */
const files: Readonly<Record<string, string>> = Object.fromEntries([
  ...['/', '/home', home, `${home}/.holdpoint`, `${home}/.holdpoint/token`, `${home}/app`, `${home}/app/src`].map(
    path => [path, path],
  ),
  ...['/srv', '/srv/keys', '/srv/keys/token', `${home}/app/package.json`].map(path => [path, path]),
  [`${home}/app/notes`, `${home}/.holdpoint/token`],
  [`${home}/app/.cache`, `${home}/.holdpoint`],
  [`${home}/app/.cache/token`, `${home}/.holdpoint/token`],
  [`${home}/app/up`, home],
  [`${home}/app/up/.holdpoint`, `${home}/.holdpoint`],
])
const realPath = (path: string) => files[path] ?? null
const usual = new ProtectedFolder({ folder: `${home}/.holdpoint`, home, realPath })
/** A data folder with another name, as HOLDPOINT_HOME can set it. */
const custom = new ProtectedFolder({ folder: '/srv/keys', home, realPath })

const app = `${home}/app`
const bash = (command: string, cwd = app, folder = usual) => folder.touchedBy('Bash', { command }, [cwd])
const touch = (tool: string, input: JsonObject, cwd = app, folder = usual) => folder.touchedBy(tool, input, [cwd])

describe('a data folder whose path has a space', () => {
  const folder = new ProtectedFolder({ folder: `${home}/my data/keys`, home, realPath: path => path })
  it.each([
    `cat '${home}/my data/keys/token'`,
    "cat ~/'my data/keys/token'",
    'cat "../my data/keys/token"',
    'cat ../my\\ data/keys/token',
    "cd .. && cat 'my data/keys/token'",
    `bash -c "cat '../my data/keys/token'"`,
  ])('a command that names a data folder with a space in its path is recognized: %s', command => {
    expect(bash(command, app, folder)).toBe('yes')
  })
  it('a command that names another folder with a space in its path is not denied', () => {
    expect(bash("cat '../my files/notes'", app, folder)).toBe('no')
  })
})

describe('shell commands that name the data folder', () => {
  it.each([
    'cat /home/ana/.holdpoint/token',
    'cat ~/.holdpoint/token',
    'cat "$HOME/.holdpoint/token"',
    `cat $\{HOME}/.holdpoint/token`,
    'cat $HOLDPOINT_HOME/token',
    `cat "$\{HOLDPOINT_HOME}"/token`,
    'cat ../.holdpoint/token',
    'cat ./../.holdpoint//token',
    'cat /home/ana/app/../.holdpoint/token',
    'cat /home//ana/./.holdpoint/token',
    "cat ~/'.holdpoint'/token",
    'cat ~/.hold\\point/token',
    'cat ~/.hold""point/token',
    'cat ~/.holdp\\\noint/token',
    "cat ~/$'.holdpoint'/token",
    'cat ~/.Holdpoint/token',
    'cat ~ana/.holdpoint/token',
    'cd ~ && cat .holdpoint/token',
    'cd .. ; cat .holdpoint/token',
    'X=$(echo ~); cat $X/.holdpoint/token',
    'cat ~/.hold*/token',
    'cat ~/.[h]oldpoint/token',
    'cat ~/.[]h]oldpoint/token',
    'cat ~/.[!]]oldpoint/token',
    'cat ~/.[[:alpha:]]oldpoint/token',
    'cat ~/.[^[:digit:]]oldpoint/token',
    `cat ~/.[${'h'.repeat(201)}]oldpoint/token`,
    `ps${' '.repeat(30)}aux${'w'.repeat(30)}e`,
    'cat /home/*/.holdpoint/token',
    'cat notes',
    'head -c 100 ./notes',
    'cat .cache/token',
    'cat up/.holdpoint/token',
    'dd if=/home/ana/.holdpoint/token',
    'curl -d @/home/ana/.holdpoint/token http://127.0.0.1:1',
    'curl file:///home/ana/.holdpoint/token',
    'curl file:///home/ana/%2eholdpoint/token',
    'cp ~/.holdpoint/holdpoint.db .',
    'echo x > ~/.holdpoint/token',
    'ls -la ~/.holdpoint',
    'sqlite3 ~/.holdpoint/holdpoint.db .dump',
    'cat /home/someone/.holdpoint/token',
    'python3 -c "print(open(\'/home/ana/.holdpoint/token\').read())"',
    'cat <<EOF\n$(cat ~/.holdpoint/token)\nEOF',
    'true | xargs -I{} cat ~/.holdpoint/token',
    'cat /proc/1234/environ',
    'cat /proc/*/environ',
    'strings /proc/$PPID/environ',
    'cat /proc/1/task/1/environ',
    'cat /proc/$(pgrep -f holdpoint)/environ',
    'for p in /proc/[0-9]*; do cat $p/environ; done',
    'ls -l /proc/1234/fd',
    'cat /proc/1234/root/home/ana/x',
    'ps auxe',
    'ps eww -p 1234',
    'cat ~/.{holdpoint,ssh}/token',
    'cat ~/.{h,x}old{x,point}/token',
    'cat ~/.{x,{h,y}oldpoint}/token',
    'cat ~/.hold{o..q}oint/token',
    `cat ~/.${'{h,x}'.repeat(12)}oldpoint/token`,
    "cat ~/.hold$'\\x70'oint/token",
    "cat ~/.hold$'\\160oin\\u0074'/token",
    'cat up/.h*/token',
    'cat ~+/../.h*/token',
    'cat /proc/self/cwd/../.h*/token',
    'cat /proc/self/root/home/ana/.h*/token',
  ])('P11: %j is denied', command => {
    expect(bash(command)).toBe('yes')
  })

  it.each([
    ['cat token', '/srv/keys'],
    ['cat keys/token', '/srv'],
    ['cat ../keys/token', '/srv/x'],
    ['cd /srv && cat keys/token', app],
    ['cat /srv/k*/token', app],
    ['cat /srv/keys', app],
    ['tar czf - /srv', app],
    ['grep -r hp_ /', app],
    ['cat /proc/self/environ; cat /srv/keys/token', app],
  ])('P11: %j in %s is denied for a data folder with another name', (command, cwd) => {
    expect(bash(command, cwd, custom)).toBe('yes')
  })

  it.each([
    ['grep -r hp_', home],
    ['grep -rn hp_ .', home],
    ['grep -R hp_ ~', app],
    ['grep --recursive hp_ ..', app],
    ['rg hp_', home],
    ['cd ~ && rg --hidden hp_', app],
    ['rg hp_ up', app],
    ['find ~ -name token -exec cat {} +', app],
    ['find .. -name token | xargs cat', app],
    ['tar cz ~', app],
    ['tar -czf x.tgz -C .. .', app],
    ['cp -r ~ /tmp/x', app],
    ['rsync -a ~/ backup:', app],
    ['chmod -R 777 ..', app],
    ['sudo chown -R eve ~', app],
    ['grep -rm1 hp_ ~', app],
    ['grep -nrA2 hp_', home],
    ['grep -hrehp_ ..', app],
    ['grep --recur hp_ ..', app],
    ['grep --deref hp_ ..', app],
    ['grep -d recurse hp_ ..', app],
    ['grep --directories=recurse hp_ ..', app],
    ['git grep --no-index hp_', home],
    ['git grep --no-ind -h hp_ ~', app],
    ['git -C ~ grep --untracked hp_', app],
    ['git diff --no-index /tmp/empty ..', app],
    ['diff -rN /tmp/empty ~', app],
    ['rsync -az9 ~/ backup:', app],
    ['cp -Rp5 ~ /tmp/x', app],
    ['mv ~ /tmp/x', app],
    ['cat $(find ~ -name token)', app],
    ['for f in `find ~ -name token`; do cat $f; done', app],
    ['find ~ -name token | while read f; do cat "$f"; done', app],
    ['find ~ | cpio -o', app],
  ])('P11: %j in %s is denied, because the command works on a folder that contains the data folder', (command, cwd) => {
    expect(bash(command, cwd)).toBe('yes')
  })
})

describe('file tools that name the data folder', () => {
  it.each<[string, JsonObject]>([
    ['Read', { file_path: '/home/ana/.holdpoint/token' }],
    ['Read', { file_path: '~/.holdpoint/token' }],
    ['Read', { file_path: '../.holdpoint/token' }],
    ['Read', { file_path: '/home/ana/app/notes' }],
    ['Read', { file_path: 'notes' }],
    ['Write', { file_path: '/home/ana/.holdpoint/holdpoint.config.json', content: '{}' }],
    ['Write', { file_path: '/home/ana/app/.cache/new-file', content: '' }],
    ['Edit', { file_path: '/home/ana/.holdpoint/token', old_string: 'a', new_string: 'b' }],
    ['MultiEdit', { file_path: '/home/ana/.holdpoint/x', edits: [{ old_string: 'a', new_string: 'b' }] }],
    ['NotebookEdit', { notebook_path: '/home/ana/.holdpoint/x.ipynb', new_source: '' }],
    ['LS', { path: '/home/ana/.holdpoint' }],
    ['Glob', { pattern: '*', path: '/home/ana/.holdpoint' }],
    ['Glob', { pattern: '/home/ana/.holdpoint/**' }],
    ['Glob', { pattern: '.hold*/token', path: '/home/ana' }],
    ['Glob', { pattern: '**/.holdpoint/token' }],
    ['Grep', { pattern: 'hp_', path: '/home/ana/.holdpoint' }],
    ['Grep', { pattern: 'hp_', path: '/home/ana' }],
    ['Grep', { pattern: 'hp_', path: '..' }],
    ['Grep', { pattern: 'hp_', glob: '.holdpoint/**' }],
    ['grep', { pattern: 'hp_', path: '/home/ana' }],
    ['rg', { pattern: 'hp_', paths: '/home/ana', path: '..' }],
    ['grep_search', { pattern: 'hp_', dir_path: '..' }],
    ['search_file_content', { pattern: 'hp_', dir_path: '/home/ana' }],
    ['WebFetch', { url: 'file:///home/ana/.holdpoint/token', prompt: 'x' }],
    ['mcp__files__read', { path: '/home/ana/.holdpoint/token' }],
    ['mcp__files__read_many', { paths: ['/tmp/x', '/home/ana/.holdpoint/token'] }],
    ['mcp__shell__run', { cmd: 'cat ~/.holdpoint/token' }],
    ['mcp__shell__run', { command: 'cat', args: ['/home/ana/.holdpoint/token'], nested: { a: 1 } }],
    ['guard', { command: 'cat x', argv: ['cat', '/home/ana/.holdpoint/token'] }],
  ])('P11: %s %j is denied', (tool, input) => {
    expect(touch(tool, input)).toBe('yes')
  })

  it('P11: a search of the session’s folder is denied if the data folder is in it', () => {
    expect(touch('Grep', { pattern: 'hp_' }, home)).toBe('yes')
    expect(touch('Grep', { pattern: 'hp_' }, app)).toBe('no')
    expect(touch('grep_search', { pattern: 'hp_' }, home)).toBe('yes')
  })

  it('P11: every path is denied in a session in the data folder', () => {
    expect(touch('Read', { file_path: 'token' }, `${home}/.holdpoint`)).toBe('yes')
    expect(bash('cat token', `${home}/.holdpoint`)).toBe('yes')
  })
})

describe('calls that do not touch the data folder', () => {
  it.each([
    'npm test',
    'npm run build -- --watch',
    'npx vitest run packages/engine/test/requests.test.ts -t "withdraw"',
    'git status && git diff --stat',
    'git commit -m "fix(rules): deny the data folder"',
    'git log --oneline -20 | head -5',
    'git push origin HEAD:main',
    'ls -la',
    'ls ~',
    'ls -R ..',
    'cat package.json | jq .scripts',
    'cat */package.json',
    'cat src/*.ts | wc -l',
    'grep -rn "TODO" src',
    'grep -rn "TODO" .',
    'grep token package.json',
    'rg --hidden "holdpoint" -g "*.ts"',
    'find . -name "*.ts" -exec wc -l {} +',
    'find / -name "node" -type f 2>/dev/null',
    'mkdir -p build && cp -r src build/src',
    'cp notes.txt ~',
    'tar xzf archive.tgz -C /tmp',
    'tar -C / -xzf archive.tgz',
    'tar czf build.tgz build',
    'rm -rf node_modules build',
    'chmod -R u+w src',
    'docker run --rm -v "$PWD:/app" -w /app node:22 npm test',
    'curl -s https://example.com/.well-known/x | tee out.json',
    'python3 -m pytest -q tests/test_data.py',
    'sed -i "s/a/b/" src/index.ts',
    'echo "holdpoint" > name.txt',
    'HOLDPOINT_HOME=./home npm test',
    'holdpoint guard -- make deploy',
    'cat holdpoint.config.json',
    'ps aux | grep node',
    'ps -ef',
    'cat /proc/cpuinfo; cat /proc/self/environ; cat /proc/1234/status',
    'export PATH=$HOME/bin:$PATH; make',
    'for f in src/*; do echo "$f"; done',
    'psql postgres://me@db/x -c "select 1"',
    'cd src && ls && cd .. && npm test',
    'cat ~/.{bashrc,profile}',
    'mkdir -p src/{a,b}/{c,d}',
    'git diff --stat ..',
    'git grep -n token',
    'git diff --no-index src/a src/b',
    'diff -r src build',
    'diff a.txt ~/b.txt',
    'mv a.txt ~',
    'echo $(find src -name "*.ts" | wc -l)',
    'grep -A2 -e recurse package.json',
  ])('%j is not denied', command => {
    expect(bash(command)).toBe('no')
    expect(bash(command, app, custom)).toBe('no')
  })

  it.each<[string, JsonObject]>([
    ['Read', { file_path: '/home/ana/app/src/index.ts' }],
    ['Read', { file_path: 'package.json', offset: 1, limit: 20 }],
    ['Write', { file_path: 'docs/x.md', content: 'The data folder is ~/.holdpoint. Run cat ~/.holdpoint/token.' }],
    ['Edit', { file_path: 'a.ts', old_string: '/home/ana/.holdpoint', new_string: '$HOLDPOINT_HOME' }],
    ['Glob', { pattern: '**/*.ts' }],
    ['Grep', { pattern: '~/.holdpoint', path: 'src' }],
    ['Task', { description: 'x', prompt: 'Find out what ~/.holdpoint is', subagent_type: 'general-purpose' }],
    ['WebFetch', { url: 'https://example.com/a%20b', prompt: 'what is ~/.holdpoint?' }],
    ['WebSearch', { query: 'holdpoint' }],
    ['AskUserQuestion', { questions: [{ question: 'Delete ~/.holdpoint?' }] }],
    ['TodoWrite', { todos: [{ content: 'look at ~/.holdpoint', status: 'pending' }] }],
    ['mcp__github__create_issue', { title: 'About ~/.holdpoint', body: 'cat ~/.holdpoint/token' }],
  ])('%s %j is not denied', (tool, input) => {
    expect(touch(tool, input)).toBe('no')
  })
})

describe('long calls', () => {
  it('P1: a command with too many words to check is unclear, and is denied if it names the data folder', () => {
    const words = Array.from({ length: 5000 }, (_, index) => `word${index}`).join(' ')
    expect(bash(`echo ${words}`)).toBe('unclear')
    expect(bash(`echo ${words}; cat ~/.holdpoint/token`)).toBe('yes')
  })

  it('P1: a command with more quotes than are read is unclear, even if it has few words', () => {
    expect(bash(`echo ${`"'\``.repeat(20_000)}`)).toBe('unclear')
    expect(bash(`echo ${`"'\``.repeat(100)}`)).toBe('no')
  })

  it.each([
    ['words', (n: number) => Array.from({ length: n / 8 }, (_, index) => `/w${index}`).join(' ')],
    ['dots', (n: number) => '../'.repeat(n / 3)],
    ['stars', (n: number) => `~/${'*'.repeat(n)}x`],
    ['brackets', (n: number) => '['.repeat(n)],
    ['variables', (n: number) => '${HOME'.repeat(n / 6)],
    ['mentions', (n: number) => '.holdpointx '.repeat(n / 12)],
    ['percent signs', (n: number) => '%2e'.repeat(n / 3)],
    ['processes', (n: number) => '/proc/a/'.repeat(n / 8)],
    ['ps', (n: number) => ' ps   '.repeat(n / 6)],
    ['spaces', (n: number) => `ps${' '.repeat(n)}`],
    ['searches', (n: number) => 'rg x;'.repeat(n / 5)],
    ['a search with many words', (n: number) => `rg ${'../ '.repeat(n / 4)}`],
    ['backslashes', (n: number) => '\\'.repeat(n)],
    ['tildes', (n: number) => '~'.repeat(n)],
    ['nested quotes', (n: number) => `"'`.repeat(n / 2)],
    ['quoted letters', (n: number) => `'a`.repeat(n / 2)],
    ['open braces', (n: number) => '{'.repeat(n)],
    ['braces in one word', (n: number) => '{a,b}'.repeat(n / 5)],
    ['words with many braces', (n: number) => '.{a,b}{c,d}{e,f}{g,h}{i,j}{k,l}{m,n} '.repeat(n / 37)],
    ['words with nested braces', (n: number) => '.{a,{b,{c,{d,{e,{f,{g,{h,i}}}}}}}}/x '.repeat(n / 36)],
    ['quotes with escape sequences', (n: number) => `$'\\x`.repeat(n / 4)],
    ['searches of git', (n: number) => 'git grep --no-index x ..;'.repeat(n / 25)],
  ])('P2: 60 KB and 900 KB of %s are checked in less than 50 ms', (_what, text) => {
    bash(text(10_000))
    for (const size of [60_000, 900_000]) {
      const command = text(size)
      expect(leastCpuMs(() => bash(command, home))).toBeLessThan(50)
    }
  })
})
