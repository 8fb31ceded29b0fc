/** A project with hostile files, in which commands are observed with strace. Used by the script that records what commands do, and by the test that compares it with our labels. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The program that a command must never start. It leaves a file behind. */
const evil = '#!/bin/sh\ntouch "$(dirname "$0")/PWNED"\ncat\n'

const files = {
  'src/a.ts': "import { b } from './b'\nexport const a = b + 1\n",
  'src/b.ts': 'export const b = 1\n',
  'src/a.test.ts': '',
  'src/a.js': '',
  'docs/guide.md': '# Guide\n',
  'tests/test_a.py': 'def test_a():\n    pass\n',
  'test/a.test.js': "require('node:test')('a', () => {})\n",
  'package.json':
    '{"name":"x","scripts":{"test":"node --test test/","build":"node build.js","deploy":"true"},"dependencies":{}}\n',
  'build.js': "require('node:fs').writeFileSync('built.txt', 'x')\n",
  'notes.txt': 'one\ntwo\nthree\n',
  'old.log': 'x\n',
  'data.csv': 'a,b\n1,2\n',
  Makefile: 'test:\n\techo tested > tested.txt\n',
  'script.sh': '#!/bin/sh\necho x > from-script.txt\n',
  'script.py': "open('from-python.txt', 'w').write('x')\n",
  '.gitignore': 'node_modules\ndist\n',
  // Only hostile settings define drivers with these names.
  '.gitattributes': '*.ts filter=evil diff=evil\n*.md diff=evil\n',
  '.gitmodules': '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n\tupdate = !../evil.sh\n',
  // Git takes this folder for a repository.
  'bare/HEAD': 'ref: refs/heads/main\n',
  'bare/objects/keep': '',
  'bare/refs/keep': '',
  'bare/config': '[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = ../evil.sh\n\tpager = ../evil.sh\n',
  // Programs of the same name in the folder itself, which must not be found.
  git: evil,
  ls: evil,
  'evil.sh': evil,
}

const settings = {
  'core.fsmonitor': './evil.sh',
  'core.pager': './evil.sh',
  'core.sshCommand': './evil.sh',
  'core.editor': './evil.sh',
  'diff.external': './evil.sh',
  'diff.evil.textconv': './evil.sh',
  'filter.evil.clean': './evil.sh',
  'filter.evil.smudge': './evil.sh',
  'gpg.program': './evil.sh',
  'log.showSignature': 'true',
  'format.pretty': '%G? %s',
  'status.submoduleSummary': 'true',
  'core.hooksPath': 'hooks',
  'alias.status': '!./evil.sh',
}

/**
 * Makes the project. With `settings`, the settings of the repository name programs too.
 * @param {string} folder
 * @param {'files' | 'settings'} hostile
 */
export function makeObservedProject(folder, hostile) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  for (const path of ['git', 'ls', 'evil.sh', 'script.sh']) chmodSync(join(folder, path), 0o755)
  const git = (/** @type {string[]} */ ...args) =>
    execFileSync('git', args, { cwd: folder, env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' }, stdio: 'pipe' })
  git('init', '-q', '-b', 'main', '--template=')
  git('config', 'user.name', 'Ana')
  git('config', 'user.email', 'ana@example.com')
  git('remote', 'add', 'origin', 'http://127.0.0.1:9/x.git')
  git('add', '-A')
  git('commit', '-qm', 'one')
  writeFileSync(join(folder, 'src/b.ts'), 'export const b = 2\n')
  git('commit', '-qam', 'two')
  git('branch', 'feature')
  git('tag', 'v1')
  writeFileSync(join(folder, 'docs/guide.md'), '# Guide 2\n')
  git('stash', '-q')
  // The same size as before, so that git must read the file to see whether it has changed.
  writeFileSync(join(folder, 'src/b.ts'), 'export const b = 3\n')
  if (hostile === 'files') return
  mkdirSync(join(folder, 'hooks'))
  for (const hook of ['post-index-change', 'pre-commit', 'post-checkout', 'reference-transaction', 'pre-push']) {
    writeFileSync(join(folder, 'hooks', hook), evil)
    chmodSync(join(folder, 'hooks', hook), 0o755)
  }
  for (const [name, value] of Object.entries(settings)) git('config', name, value)
}
