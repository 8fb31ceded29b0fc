/** The grammar of `git`: commands that read. If the settings of the repository name programs, these commands count as running project code. */
import { checkPath, quote } from '../files/check-path.ts'
import { isInside, joinPath } from '../paths.ts'
import type { CallSite } from '../site.ts'
import { gitSettingsProblem, mayShowCredentials, repositoryFolder } from './git-settings.ts'
import { type Flags, flagsOf, type Grammar, type Operands, type ParsedArguments } from './grammar.ts'
import { type ArgumentCheck, checkGrammar, type Program, refuse } from './grammar-check.ts'

/** The list omits --output, which writes a file, --ext-diff, --textconv and --no-index. */
const diffFlags = [
  '-p -u -s -R -a -b -w -W -z -U=number --patch --no-patch --raw --stat?=text --numstat --shortstat --dirstat?=text --summary',
  '--name-only --name-status --check --full-index --binary --abbrev?=number -M?=text -C?=text --find-renames?=text -D',
  '--diff-filter=word -S=text -G=text --pickaxe-all --pickaxe-regex --relative --text --ignore-space-at-eol',
  '--ignore-cr-at-eol --ignore-space-change --ignore-all-space --ignore-blank-lines --inter-hunk-context=number',
  '--function-context --exit-code --quiet --color?=always|never|auto --no-color --word-diff?=color|plain|porcelain|none',
  '--color-words --no-renames --minimal --patience --histogram --diff-algorithm=word --no-ext-diff --no-textconv',
  '--ignore-submodules?=all|dirty|untracked|none --no-prefix --cached --staged --merge-base --compact-summary --unified=number',
  '--color-moved?=no|default|plain|blocks|zebra|dimmed-zebra',
]
/** The list omits --show-signature, which runs gpg. */
const logFlags = [
  '-# -n=number --max-count=number --skip=number --since=text --until=text --after=text --before=text --author=text',
  '--committer=text --grep=text -i -E -F -P -g -c -m -t --cc --all-match --invert-grep --merges --no-merges --first-parent --all',
  '--branches?=text --tags?=text --remotes?=text --oneline --graph --decorate?=short|full|auto|no --no-decorate --date=text',
  '--format?=text --pretty?=text --abbrev-commit --no-abbrev-commit --follow --reverse --topo-order --date-order --left-right',
  '--cherry-pick --cherry-mark --not --ancestry-path --simplify-by-decoration --full-history --source --no-walk --no-notes',
  '--parents --children --boundary --no-show-signature --walk-reflogs --no-mailmap --use-mailmap --diff-merges=word',
  '--count --regexp-ignore-case --extended-regexp --fixed-strings --no-expand-tabs --no-commit-id --root -r --left-only --right-only',
]
const listFlags = [
  '--contains?=revision --no-contains?=revision --merged?=revision --no-merged?=revision --points-at=revision --sort=text',
  '--format=text --column --no-column --color?=always|never|auto --no-color -i --ignore-case --list --abbrev?=number',
]

const revisions: Operands = { others: 'revision' }
const nothing: Operands = { others: 'none' }
function reads(operands: Grammar['operands'], flags: Flags, refuses?: Grammar['refuses']): Grammar {
  return {
    group: 'only-reads',
    style: 'anywhere',
    flags,
    operands,
    refuses: (parsed, site) => formatProblem(parsed) ?? refuses?.(parsed, site) ?? null,
  }
}

/** Some placeholders check signatures, for which git runs gpg. A character before their name (-, + or a space) changes the white space around them. */
function formatProblem({ flags }: ParsedArguments): string | null {
  const formats = ['--format', '--pretty', '--sort', '--group'].flatMap(flag => flags.get(flag) ?? [])
  return formats.some(format => /%[-+ ]*G|signature/.test(format)) ? 'The format makes git check signatures.' : null
}

/** Names create a branch or a tag unless an option says that they are patterns. */
function listing(...selecting: readonly string[]): (parsed: ParsedArguments) => Operands {
  const options = [...selecting, '--list', '--contains', '--no-contains', '--merged', '--no-merged', '--points-at']
  return ({ flags }) => ({ others: options.some(option => flags.has(option)) ? 'revision' : 'none' })
}

const log = reads(revisions, flagsOf(...logFlags, ...diffFlags))
/** Only `log` accepts -L among the commands with these options. */
const logOfLines = reads(revisions, flagsOf(...logFlags, ...diffFlags, '-L=lines'))

/** Settings whose value is never a secret. Other settings may contain a password or a token, even if their name does not suggest it. */
const shownSettings: readonly RegExp[] = [
  /^user\.(?:name|email)$/i,
  /^core\.(?:autocrlf|eol|safecrlf|filemode|ignorecase|bare|symlinks|longpaths|quotepath|hookspath|editor|pager|fsmonitor|worktree|excludesfile|attributesfile|sparsecheckout)$/i,
  /^init\.defaultbranch$/i,
  /^(?:pull|push|fetch|merge|rebase|commit|tag|diff|log|status|color|advice)\.[\w-]+$/i,
  /^remote\.[\w./-]+\.(?:url|pushurl|fetch)$/i,
  /^branch\.[\w./-]+\.(?:remote|merge|rebase|description)$/i,
  /^submodule\.[\w./-]+\.(?:url|path|branch)$/i,
]
const config = reads(
  { others: 'text', least: 1, most: 1 },
  flagsOf(
    '--get --get-all --global --local --system --worktree --bool --int --type=word --show-origin --show-scope -z --null',
  ),
  ({ operands: [name = ''] }) =>
    shownSettings.some(setting => setting.test(name)) ? null : 'Only settings that hold no secrets may be looked up.',
)

/** Shortlog accepts fewer options than log. */
const shortlogFlags = flagsOf(
  '-s -n -e -c --summary --numbered --email --group=word --all --branches?=text --tags?=text --remotes?=text',
  '--merges --no-merges --first-parent --since=text --until=text --after=text --before=text --author=text --format?=text',
)

/** Commands by their name. A name with two words is a command whose first argument must be that word; its other words change something. */
const commands: ReadonlyMap<string, Grammar> = new Map([
  [
    'status',
    reads(
      { others: 'listed' },
      flagsOf(
        '-s -b -v -z -u?=no|normal|all --short --branch --verbose --porcelain?=v1|v2|1|2 --long --untracked-files?=no|normal|all',
        '--ignored?=traditional|no|matching --no-renames --show-stash --ahead-behind --no-ahead-behind --no-column',
        '--ignore-submodules?=all|dirty|untracked|none --find-renames?=number',
      ),
    ),
  ],
  ['diff', reads(revisions, flagsOf(...diffFlags))],
  ['log', logOfLines],
  ['show', logOfLines],
  ['rev-list', log],
  ['diff-tree', log],
  ['shortlog', reads(revisions, shortlogFlags)],
  ['reflog', { ...log, operands: nothing }],
  ['reflog show', log],
  ['stash list', { ...log, operands: nothing }],
  ['stash show', reads(revisions, flagsOf(...diffFlags))],
  ['branch', reads(listing(), flagsOf(...listFlags, '-a -r -v --all --remotes --verbose --show-current'))],
  ['tag', reads(listing('-l'), flagsOf(...listFlags, '-l -n?=number'))],
  ['remote', reads(nothing, flagsOf('-v --verbose'))],
  ['remote get-url', reads({ others: 'word', most: 1 }, flagsOf('--all --push'))],
  [
    'rev-parse',
    reads(
      revisions,
      flagsOf(
        '--abbrev-ref?=strict|loose --short?=number --verify -q --quiet --show-toplevel --git-dir --git-common-dir --show-prefix',
        '--show-cdup --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository --absolute-git-dir',
        '--symbolic-full-name --symbolic --all --branches --tags --remotes --path-format?=absolute|relative --show-object-format',
      ),
    ),
  ],
  [
    'ls-files',
    reads(
      { others: 'listed' },
      flagsOf(
        '-c -d -o -m -s -u -k -i -t -v -z -x=text --cached --deleted --others --modified --stage --unmerged --killed --ignored',
        '--exclude-standard --exclude=text --full-name --error-unmatch --abbrev?=number --directory --no-empty-directory --eol --deduplicate',
      ),
    ),
  ],
  [
    'ls-tree',
    reads(
      revisions,
      flagsOf('-r -t -d -l -z --name-only --name-status --full-name --full-tree --long --abbrev?=number'),
    ),
  ],
  ['cat-file', reads(revisions, flagsOf('-t -s -p -e'))],
  [
    'blame',
    reads(
      revisions,
      flagsOf(
        '-b -c -e -f -l -n -p -s -t -w -L=text -M?=number -C?=number --porcelain --line-porcelain --show-email --show-name',
      ),
    ),
  ],
  [
    'grep',
    // The list omits -O, which runs a program, -f, --no-index, --untracked and --textconv.
    reads(
      ({ flags }) => ({ first: flags.has('-e') ? [] : ['text'], others: 'revision' }),
      flagsOf(
        '-# -a -c -E -F -G -h -H -i -I -l -L -n -o -P -p -q -v -w -W -z -A=number -B=number -C=number -m=number -e=text --cached',
        '--text --count --extended-regexp --fixed-strings --perl-regexp --ignore-case --files-with-matches --name-only --line-number',
        '--only-matching --invert-match --word-regexp --heading --break --column --show-function --function-context --full-name',
        '--color?=always|never|auto --no-color --max-depth=number --and --or --not --all-match --max-count=number',
      ),
    ),
  ],
  ['merge-base', reads(revisions, flagsOf('-a --all --is-ancestor --fork-point --octopus --independent'))],
  [
    'describe',
    reads(
      revisions,
      flagsOf(
        '--tags --always --all --long --abbrev?=number --dirty?=word --match=text --exclude=text --exact-match --first-parent --contains --candidates=number',
      ),
    ),
  ],
  ['for-each-ref', reads(revisions, flagsOf(...listFlags, '--count=number'))],
  [
    'show-ref',
    reads(
      revisions,
      flagsOf(
        '-q -d --head --heads --branches --tags --dereference --abbrev?=number --verify --quiet --hash?=number -s?=number',
      ),
    ),
  ],
  ['symbolic-ref', reads({ others: 'revision', least: 1, most: 1 }, flagsOf('-q --quiet --short'))],
  ['name-rev', reads(revisions, flagsOf('--tags --all --name-only --always --refs=text'))],
  ['cherry', reads(revisions, flagsOf('-v --abbrev?=number'))],
  ['worktree list', reads(nothing, flagsOf('-v -z --porcelain --verbose'))],
  ['check-ignore', reads({ others: 'listed' }, flagsOf('-q -v -n --quiet --verbose --non-matching --no-index'))],
  ['count-objects', reads(nothing, flagsOf('-v -H --verbose --human-readable'))],
  ['config', config],
  ['version', reads(nothing, flagsOf('--build-options'))],
])

const globalOptions: ReadonlySet<string> = new Set([
  '--no-pager',
  '-P',
  '--no-optional-locks',
  '--literal-pathspecs',
  '--no-replace-objects',
])

export const git: Program = {
  check(args, site) {
    if (args.length === 1 && args[0] === '--version') return { ok: true, group: 'only-reads', paths: [] }
    let at = 0
    let cwd = site.cwd
    for (; at < args.length && (args[at] as string).startsWith('-'); at++) {
      if (globalOptions.has(args[at] as string)) continue
      if (args[at] !== '-C')
        return refuse(`The option ${quote(args[at] as string)} is not on the list of harmless options.`)
      const folder = checkPath(args[++at] ?? '', { ...site, cwd }, 'list')
      if (!folder.ok) return refuse(folder.reason)
      cwd = folder.path
    }
    return checkCommand(args.slice(at), { ...site, cwd })
  },
}

function checkCommand([name = '', ...args]: readonly string[], site: CallSite): ArgumentCheck {
  const withWord = commands.get(`${name} ${args[0]}`)
  const grammar = withWord ?? commands.get(name)
  if (!grammar || name.includes(' '))
    return refuse(name === '' ? 'The git command is missing.' : `git ${name} may change something.`)
  const found = checkGrammar(withWord ? args.slice(1) : args, grammar, site)
  if (!found.ok) return found
  // Outside of a repository, `git diff` and `git grep` read any files and folders, which are not checked for secrets.
  const outside = name === 'diff' || name === 'grep' ? outsideProblem(name, args, site) : null
  if (outside) return refuse(outside)
  if (showsAddress(name, args) && mayShowCredentials(site))
    return refuse('The address of a remote repository may contain a password or a token.')
  return gitSettingsProblem(site) !== null ? { ...found, group: 'project-code' } : found
}

/** Returns whether the command shows the addresses of other repositories. */
function showsAddress(name: string, args: readonly string[]): boolean {
  return (name === 'remote' && args.length > 0) || (name === 'config' && args.some(arg => /url$/i.test(arg)))
}

function outsideProblem(name: string, args: readonly string[], site: CallSite): string | null {
  const top = repositoryFolder(site)
  if (top === null) return `Outside of a repository, git ${name} may read any files.`
  const cwd = site.files?.realPath(site.cwd) ?? site.cwd
  const other = name === 'diff' ? args.find(arg => !isInside(joinPath(cwd, arg), top)) : undefined
  return other === undefined ? null : `${quote(other)} is outside of the repository.`
}
