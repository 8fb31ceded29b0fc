/** Knows which options and words of common programs mean the same, for rules that deny or ask. A program that is not listed here is compared by the names that the rule uses. */

/** A name of an option: `-r`, `--recursive`, `-d&-f` for both together, or a word that stands for the option, such as `+main`. A star stands for the rest of a word. */
export interface SameOption {
  /** The words that a rule must contain besides the program, such as `push`. */
  readonly subcommand: string | null
  readonly names: readonly string[]
  /** Options that do the same and more, such as `-a` of `cp`, which includes `-r`. A rule for one of the names also matches these, but not the reverse. */
  readonly includedIn: readonly string[]
}

const force = '-f --force'
const recursive = '-r -R --recursive'

/**
 * The options of a program, or of a subcommand, separated by commas. Names of the same option stand beside each other, and
 * what includes the option follows after `<`. `--force-with-lease` of git is not `--force`: it refuses to discard commits
 * that the person has not seen, so a rule must name it.
 */
const table: Readonly<Record<string, string>> = {
  rm: `${recursive}, ${force}, -d --dir, -v --verbose, -i --interactive < -I`,
  rmdir: '-p --parents',
  cp: `${recursive} < -a --archive, ${force}, -n --no-clobber, -u --update, -l --link, -s --symbolic-link`,
  mv: `${force}, -n --no-clobber, -u --update, -b --backup, -t --target-directory`,
  ln: `${force}, -s --symbolic`,
  mkdir: '-p --parents, -m --mode',
  chmod: '-R --recursive',
  chown: '-R --recursive, -h --no-dereference',
  chgrp: '-R --recursive',
  chattr: '-R',
  setfacl: '-R --recursive, -m --modify, -b --remove-all',
  shred: `-u --remove, ${force}, -z --zero`,
  truncate: '-s --size',
  tar: '-x --extract --get, -c --create, -f --file, -C --directory, --delete, --overwrite, -P --absolute-names',
  unzip: '-o, -d',
  rsync: '-r --recursive < -a --archive, --delete --del < --delete-*, -n --dry-run',
  sed: '-i --in-place, -e --expression, -f --file',
  sort: '-o --output',
  grep: `${recursive}`,
  kill: '-9 -n9 -s9 -KILL -SIGKILL -sKILL --signal=9 --signal=KILL KILL SIGKILL 9, -15 -TERM -SIGTERM',
  pkill: '-9 -KILL -SIGKILL --signal=9 --signal=KILL KILL, -f --full',
  killall: '-9 -KILL -SIGKILL -s9 -sKILL --signal=9 --signal=KILL KILL',
  curl: `-X --request, -d --data < --data-* --json, -F --form < --form-string, -T --upload-file, -o --output,
    -O --remote-name, -k --insecure, -L --location, -H --header, -u --user, -x --proxy, -K --config, -f --fail`,
  wget: `-O --output-document, -r --recursive < -m --mirror, -P --directory-prefix, -i --input-file, -q --quiet`,
  git: '-c --config-env',
  'git push': `${force} < --mirror +*, -d --delete < :* --mirror --prune, -u --set-upstream, -n --dry-run, --all --branches`,
  'git reset': '-q --quiet, -p --patch',
  'git clean': `${force}, -i --interactive, -n --dry-run, -q --quiet, -x, -X, -d`,
  'git checkout': `${force}, -p --patch, -b < -B, -t --track, -d --detach`,
  'git switch': '-f --force --discard-changes, -c --create < -C --force-create, -C --force-create, -d --detach',
  'git restore': '-S --staged, -W --worktree, -s --source, -p --patch',
  'git branch': `-d --delete < -D, -D < -d&-f, ${force} < -D -M -C, -m --move < -M, -M < -m&-f, -c --copy < -C, -C < -c&-f`,
  'git tag': `-d --delete, ${force}, -a --annotate, -s --sign`,
  'git commit': '-n --no-verify, -a --all, -m --message, -F --file, -s --signoff, -p --patch',
  'git merge': '-n --no-stat, --no-verify, -m --message',
  'git rebase': '-i --interactive, -x --exec, -f --force-rebase --no-ff',
  'git fetch': `${force} < +*, -p --prune`,
  'git pull': `${force}, -r --rebase`,
  'git add': `-A --all --no-ignore-removal, ${force}, -u --update`,
  'git rm': `-r, ${force}`,
  'git mv': `${force}`,
  'git stash': '-u --include-untracked < -a --all, -a --all',
  'git worktree': `${force}`,
  'git update-ref': '-d',
  docker: `${force}, -a --all, -v --volume --volumes, -d --detach, -e --env, -i --interactive, -t --tty, -p --publish,
    -u --user, -H --host, -w --workdir`,
  npm: `-g --global --location=global, ${force}, -y --yes, -w --workspace, -D --save-dev`,
  'pip install': '-U --upgrade, -r --requirement, -e --editable, -i --index-url',
  kubectl: `-f --filename, -n --namespace, -A --all-namespaces, -l --selector, -k --kustomize, -c --container`,
  helm: '-f --values, -n --namespace, -i --install',
  gh: `-d --delete-branch, -y --yes --confirm, -X --method, -f --raw-field, -F --field, -R --repo`,
  cargo: '-p --package, -F --features',
  bash: '-c',
  node: '-e --eval < -p --print -pe, -r --require',
  python: '-c, -m',
  make: '-C --directory, -f --file --makefile, -B --always-make',
}

/** Programs with the options of another one. */
const likes: Readonly<Record<string, string>> = {
  grm: 'rm',
  gcp: 'cp',
  gmv: 'mv',
  gchmod: 'chmod',
  gchown: 'chown',
  gtar: 'tar',
  bsdtar: 'tar',
  gsed: 'sed',
  egrep: 'grep',
  fgrep: 'grep',
  podman: 'docker',
  nerdctl: 'docker',
  'docker-compose': 'docker',
  pnpm: 'npm',
  yarn: 'npm',
  bun: 'npm',
  oc: 'kubectl',
  tofu: 'terraform',
  python3: 'python',
  pip3: 'pip',
  sh: 'bash',
  zsh: 'bash',
  gmake: 'make',
}

/** Words that mean the same as a subcommand. */
const npmWords = {
  install: 'i in ins inst insta instal isnt isnta isntal isntall add',
  uninstall: 'un unlink remove rm r',
  publish: 'pub publ publi publis',
  run: 'run-script rum urn',
  exec: 'x',
}
const subcommands: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  npm: npmWords,
  terraform: { destroy: '-destroy --destroy' },
  helm: { uninstall: 'un del delete' },
  cargo: { build: 'b', run: 'r', test: 't' },
}

/** Programs whose first argument can be short options without a dash, such as `tar xf`. */
const bundled: ReadonlySet<string> = new Set(['tar', 'gtar', 'bsdtar', 'ar', 'ps'])

const byProgram: ReadonlyMap<string, readonly SameOption[]> = parsedTable()

function parsedTable(): ReadonlyMap<string, readonly SameOption[]> {
  const parsed = new Map<string, SameOption[]>()
  for (const [key, line] of Object.entries(table)) {
    const [program = '', subcommand = null] = key.split(' ')
    const options = line.split(',').map(text => {
      const [names = [], includedIn = []] = text.split('<').map(wordsIn)
      return { subcommand, names, includedIn }
    })
    parsed.set(program, [...(parsed.get(program) ?? []), ...options])
  }
  return parsed
}
function wordsIn(text: string): readonly string[] {
  return text.split(/\s/).filter(word => word !== '')
}
function knownName(program: string): string {
  return Object.hasOwn(likes, program) ? (likes[program] as string) : program
}

/** Returns the options of a program. If `words` name some of its subcommands, only their options and those of the program itself. */
export function optionsOf(program: string, words: ReadonlySet<string>): readonly SameOption[] {
  const options = byProgram.get(knownName(program)) ?? []
  const named = options.filter(({ subcommand }) => subcommand === null || words.has(subcommand))
  return named.some(({ subcommand }) => subcommand !== null) ? named : options
}

/** Returns whether letters after one dash are short options of the program, however many they are. */
export function joinsLetters(program: string): boolean {
  return byProgram.has(knownName(program))
}

export function startsWithLetters(program: string): boolean {
  return bundled.has(program)
}

/** Returns the words that mean the same as a word of the program. */
export function sameWords(program: string, word: string): readonly string[] {
  const known = knownName(program)
  const words = Object.hasOwn(subcommands, known) ? subcommands[known] : undefined
  return words && Object.hasOwn(words, word) ? [word, ...wordsIn(words[word] ?? '')] : [word]
}
