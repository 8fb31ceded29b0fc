/** The grammar of `git`: commands that read. If the settings of the repository name programs, these commands count as running project code. */
import { checkPath, quote } from '../files/check-path.ts'
import type { CallSite } from '../site.ts'
import { gitSettingsProblem } from './git-settings.ts'
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
  '--format=text --pretty?=text --abbrev-commit --no-abbrev-commit --follow --reverse --topo-order --date-order --left-right',
  '--cherry-pick --cherry-mark --not --ancestry-path --simplify-by-decoration --full-history --source --no-walk --no-notes',
  '--parents --children --boundary --no-show-signature --walk-reflogs --no-mailmap --use-mailmap --diff-merges=word -L=revision',
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
    refuses: parsed => formatProblem(parsed) ?? refuses?.(parsed) ?? null,
  }
}

/** Some placeholders check signatures, for which git runs gpg. */
function formatProblem({ flags }: ParsedArguments): string | null {
  const formats = [...(flags.get('--format') ?? []), ...(flags.get('--pretty') ?? []), ...(flags.get('--sort') ?? [])]
  return formats.some(format => /%G|signature/.test(format)) ? 'The format makes git check signatures.' : null
}

/** Names create a branch or a tag unless an option says that they are patterns. */
function listing(...selecting: readonly string[]): (parsed: ParsedArguments) => Operands {
  const options = [...selecting, '--list', '--contains', '--no-contains', '--merged', '--no-merged', '--points-at']
  return ({ flags }) => ({ others: options.some(option => flags.has(option)) ? 'revision' : 'none' })
}

/** The first word must be one of these; other words of the same command change something. */
function after(words: readonly string[], grammar: Grammar, isOptional = false): Grammar {
  return {
    ...grammar,
    operands: parsed => {
      const inner = typeof grammar.operands === 'function' ? grammar.operands(parsed) : grammar.operands
      return { ...inner, first: ['text', ...(inner.first ?? [])], least: isOptional ? 0 : 1 }
    },
    refuses: parsed => {
      const [word] = parsed.operands
      if (word === undefined ? isOptional : words.includes(word)) return grammar.refuses?.(parsed) ?? null
      return `Only ${words.join(' and ')} are accepted here.`
    },
  }
}

const log = reads(revisions, flagsOf(...logFlags, ...diffFlags))

/** Values of these settings may be secret. */
const secretSetting = /extraheader|token|password|secret|helper|key/i
const config = reads(
  { others: 'text', least: 1, most: 1 },
  flagsOf(
    '--get --get-all --global --local --system --worktree --bool --int --type=word --show-origin --show-scope -z --null',
  ),
  ({ operands: [name = ''] }) =>
    /^[\w-]+\..*[\w-]$/.test(name) && !secretSetting.test(name) ? null : 'Only the lookup of one setting is accepted.',
)

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
  ['log', log],
  ['show', log],
  ['rev-list', log],
  ['diff-tree', log],
  ['shortlog', reads(revisions, flagsOf(...logFlags, '-s -e --summary --email --numbered -n --group=word'))],
  ['reflog', after(['show'], log, true)],
  ['stash', after(['list', 'show'], log)],
  ['branch', reads(listing(), flagsOf(...listFlags, '-a -r -v --all --remotes --verbose --show-current'))],
  ['tag', reads(listing('-l'), flagsOf(...listFlags, '-l -n?=number'))],
  ['remote', reads({ others: 'word', most: 2 }, flagsOf('-v --verbose --all --push'), remoteProblem)],
  [
    'rev-parse',
    reads(
      revisions,
      flagsOf(
        '--abbrev-ref?=strict|loose --short?=number --verify -q --quiet --show-toplevel --git-dir --git-common-dir --show-prefix',
        '--show-cdup --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository --absolute-git-dir',
        '--symbolic-full-name --symbolic --all --branches --tags --remotes --path-format=absolute|relative --show-object-format',
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
        '--tags --always --all --long --abbrev=number --dirty?=word --match=text --exclude=text --exact-match --first-parent --contains --candidates=number',
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
  ['worktree', after(['list'], reads(nothing, flagsOf('-v -z --porcelain --verbose')))],
  ['check-ignore', reads({ others: 'listed' }, flagsOf('-q -v -n --quiet --verbose --non-matching --no-index'))],
  ['count-objects', reads(nothing, flagsOf('-v -H --verbose --human-readable'))],
  ['config', config],
  ['version', reads(nothing, flagsOf('--build-options'))],
])

function remoteProblem({ operands: [word] }: ParsedArguments): string | null {
  return word === undefined || word === 'get-url' ? null : 'Only the list of remotes is accepted.'
}

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
  const grammar = commands.get(name)
  if (!grammar) return refuse(name === '' ? 'The command of git is missing.' : `git ${name} may change something.`)
  const found = checkGrammar(args, grammar, site)
  return found.ok && gitSettingsProblem(site) !== null ? { ...found, group: 'project-code' } : found
}
