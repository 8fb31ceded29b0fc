/** Grammars of programs that search for text or names: grep, rg and fd. */
import type { TreeFilter } from '../files/check-tree.ts'
import type { CallSite } from '../site.ts'
import { flagsOf, type Operands, type ParsedArguments } from './grammar.ts'
import { checkGrammar, type Program, programOf, refuse } from './grammar-check.ts'

const grepFlags = flagsOf(
  '-# -a -b -c -E -F -G -h -H -i -I -l -L -n -o -P -q -r -R -s -T -U -v -w -x -y -z -Z',
  '-A=number -B=number -C=number -m=number -e=text -d=skip|read',
  '--text --byte-offset --count --extended-regexp --fixed-strings --basic-regexp --perl-regexp --no-filename --with-filename',
  '--ignore-case --no-ignore-case --files-with-matches --files-without-match --line-number --only-matching --quiet --silent',
  '--recursive --dereference-recursive --no-messages --invert-match --word-regexp --line-regexp --null --line-buffered --initial-tab',
  '--after-context=number --before-context=number --context?=number --max-count=number --regexp=text',
  '--include=text --exclude=text --exclude-dir=text --color?=auto|always|never --colour?=auto|always|never',
  '--binary-files=text|binary|without-match --label=word',
)

/** Returns the names without wildcards. A pattern might match unexpected names. */
function literalNames(patterns: readonly string[]): ReadonlySet<string> {
  return new Set(patterns.filter(name => /^[\w.-]+$/.test(name)))
}

/** Endings of the files that patterns such as `*.ts` select, or null if a pattern is less simple. */
function endingsOf(patterns: readonly string[]): readonly string[] | null {
  const endings: string[] = []
  for (const pattern of patterns) {
    const [, list, simple] = /^(?:\*\*\/)?\*\.(?:\{([\w,.]+)\}|([\w.]+))$/.exec(pattern) ?? []
    if (list === undefined && simple === undefined) return null
    endings.push(...(list?.split(',') ?? [simple]).map(ending => `.${ending}`))
  }
  return endings.length === 0 ? null : endings
}

function grepOperands({ flags }: ParsedArguments): Operands {
  const followsLinks = flags.has('-R') || flags.has('--dereference-recursive')
  const isRecursive = followsLinks || flags.has('-r') || flags.has('--recursive')
  const first = flags.has('-e') || flags.has('--regexp') ? [] : (['text'] as const)
  if (!isRecursive) return { first, others: 'file' }
  // For grep, braces are ordinary characters.
  const includes = (flags.get('--include') ?? []).map(pattern => (pattern.includes('{') ? '' : pattern))
  const filter: TreeFilter = {
    skippedFolders: literalNames(flags.get('--exclude-dir') ?? []),
    skipsHidden: false,
    followsLinks,
    // If --exclude comes first, grep also reads files that no --include names.
    endings: flags.has('--exclude') ? null : endingsOf(includes),
  }
  return { first, others: 'tree', own: 'tree', filter }
}

const rgFlags = flagsOf(
  '-# -a -b -c -F -H -i -I -l -n -N -o -P -p -q -s -S -u -U -v -w -x -0 -. -h -V',
  '-A=number -B=number -C=number -d=number -e=text -g=text -j=number -m=number -M=number -t=word -T=word -r=text -E=word',
  '--text --byte-offset --count --count-matches --fixed-strings --with-filename --no-filename --ignore-case --case-sensitive',
  '--smart-case --files-with-matches --files-without-match --files --line-number --no-line-number --only-matching --pcre2',
  '--pretty --quiet --unrestricted --multiline --multiline-dotall --invert-match --word-regexp --line-regexp --null --hidden',
  '--no-hidden --no-ignore --no-ignore-vcs --no-ignore-parent --no-messages --no-heading --heading --column --no-column',
  '--json --stats --trim --vimgrep --type-list --no-config --version --help --crlf --glob-case-insensitive --no-pre',
  '--after-context=number --before-context=number --context=number --max-depth=number --max-count=number --max-columns=number',
  '--max-columns-preview --max-filesize=text --regexp=text --glob=text --iglob=text --threads=number --type=word --type-not=word',
  '--replace=text --encoding=word --color=auto|always|never|ansi --colors=text --sort=path|modified|accessed|created|none',
  '--sortr=path|modified|accessed|created|none --context-separator=text --engine=default|pcre2|auto --passthru --one-file-system',
)

/** Types of rg whose files all have one of these endings. Other types count as all files. */
const rgTypes: Readonly<Record<string, readonly string[]>> = {
  ts: ['.ts', '.tsx', '.cts', '.mts'],
  js: ['.js', '.jsx', '.cjs', '.mjs', '.vue'],
  py: ['.py', '.pyi'],
  python: ['.py', '.pyi'],
  go: ['.go'],
  rust: ['.rs'],
  java: ['.java', '.jsp', '.jspx', '.properties'],
  css: ['.css', '.scss'],
  html: ['.htm', '.html', '.ejs'],
  md: ['.markdown', '.md', '.mdown', '.mdwn', '.mkd', '.mkdn', '.mdx'],
  ruby: ['.rb', '.gemspec', '.rbw', 'Gemfile', 'Rakefile', '.irbrc', 'config.ru'],
  c: ['.c', '.h', '.H', '.cats', '.in'],
  cpp: ['.C', '.cc', '.cpp', '.cxx', '.h', '.hh', '.hpp', '.hxx', '.H', '.inl', '.in'],
  php: ['.php', '.php3', '.php4', '.php5', '.php7', '.php8', '.pht', '.phtml'],
}

function rgOperands({ flags, operands }: ParsedArguments): Operands {
  const hasPattern = flags.has('-e') || flags.has('--regexp') || flags.has('--files') || flags.has('--type-list')
  const first = hasPattern ? [] : (['text'] as const)
  if (flags.has('--files') || flags.has('--type-list')) return { first, others: 'listed', own: 'listed' }
  // Without a path, rg searches its current folder, or standard input if that is connected.
  const own = operands.length <= first.length ? 'tree' : undefined
  return { first, others: 'tree', ...(own && { own }), filter: rgFilter(flags) }
}

function rgFilter(flags: ParsedArguments['flags']): TreeFilter {
  const globs = ['-g', '--glob', '--iglob'].flatMap(flag => flags.get(flag) ?? [])
  const wanted = globs.filter(glob => !glob.startsWith('!'))
  const types = [...(flags.get('-t') ?? []), ...(flags.get('--type') ?? [])]
  const unrestricted = (flags.get('-u')?.length ?? 0) + (flags.get('--unrestricted')?.length ?? 0)
  const ignoresCase = flags.has('--iglob') || flags.has('--glob-case-insensitive')
  return {
    // A glob that includes files could include an excluded folder again, so excluded folders count only without such a glob.
    skippedFolders: new Set(
      wanted.length > 0 ? [] : globs.flatMap(glob => excludedFolder.exec(glob)?.slice(1).filter(Boolean) ?? []),
    ),
    // rg searches files that a glob or a type selects even if they are hidden.
    skipsHidden:
      !flags.has('--hidden') &&
      !flags.has('-.') &&
      unrestricted < 2 &&
      wanted.length === 0 &&
      types.length === 0 &&
      !ignoresCase,
    followsLinks: false,
    endings: ignoresCase ? null : wanted.length > 0 ? endingsOf(wanted) : endingsOfTypes(types),
  }
}
/** A glob that excludes all folders with one name. A glob with another slash only counts from the top. */
const excludedFolder = /^!(?:\*\*\/)?([\w.-]+)\/?$|^!\*\*\/([\w.-]+)\/\*\*$/

function endingsOfTypes(types: readonly string[]): readonly string[] | null {
  if (types.length === 0 || !types.every(type => Object.hasOwn(rgTypes, type))) return null
  return types.flatMap(type => rgTypes[type] ?? [])
}

const rgGrammar = { group: 'only-reads', style: 'anywhere', flags: rgFlags, operands: rgOperands } as const

/** The list omits --pre and --hostname-bin, which run a program, -z, which runs programs that unpack, -f, --ignore-file and -L. */
const rg: Program = {
  check(args: readonly string[], site: CallSite) {
    // A file of options, named by an environment variable, could contain --pre.
    const hasConfig = [site.cwd, site.folder, site.home].some(folder => site.files?.realPath(`${folder}/.ripgreprc`))
    if (hasConfig && !args.includes('--no-config'))
      return refuse('rg may read options from a .ripgreprc file. Add --no-config.')
    return checkGrammar(args, rgGrammar, site)
  },
}

const grep = programOf({ group: 'only-reads', style: 'clusters', flags: grepFlags, operands: grepOperands })

/** The list omits -x and -X, which run a program, -l, which runs ls, and -L, which follows links. */
const fd = programOf({
  group: 'only-reads',
  style: 'anywhere',
  flags: flagsOf(
    '-H -I -u -s -i -g -F -a -p -0 -1 -q -d=number -t=word -e=word -E=text -c=never|auto|always -S=text -j=number',
    '--hidden --no-ignore --unrestricted --case-sensitive --ignore-case --glob --fixed-strings --absolute-path --full-path',
    '--max-depth=number --min-depth=number --exact-depth=number --type=word --extension=word --exclude=text --print0',
    '--max-results=number --changed-within=text --changed-before=text --color=never|auto|always --size=text --prune --version',
  ),
  operands: { first: ['text'], others: 'listed', own: 'listed' },
})

export const searchPrograms: ReadonlyMap<string, Program> = new Map([
  ['grep', grep],
  ['egrep', grep],
  ['fgrep', grep],
  ['rg', rg],
  ['fd', fd],
  ['fdfind', fd],
])
