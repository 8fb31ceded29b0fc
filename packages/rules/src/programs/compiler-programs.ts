/** Grammars of go, cargo and make: they check, build and test the project. */
import { checkPath, quote } from '../files/check-path.ts'
import { isInside, parentOf } from '../paths.ts'
import type { CallSite } from '../site.ts'
import { flagsOf, type Grammar, type Operands, type ParsedArguments } from './grammar.ts'
import { type ArgumentCheck, checkGrammar, type Program, refuse } from './grammar-check.ts'
import { isUsualScript } from './script-names.ts'

/** The list omits -exec, -toolexec, -o, -C, -overlay, -modfile, -ldflags, -gcflags and profiles. */
const goFlags = '-v -x -n -race -short -trimpath -tags=word -p=number -mod=readonly|vendor -a -cover -msan -asan'
function goGrammar(flags: string): Grammar {
  return goGrammarOf(() => null, flags)
}
function goGrammarOf(refuses: NonNullable<Grammar['refuses']>, flags: string): Grammar {
  return {
    group: 'project-code',
    style: 'words',
    flags: flagsOf(goFlags, flags),
    operands: { others: 'package' },
    // Go would download `pkg@version`. -args would pass the rest on unchecked.
    refuses: (parsed, site) =>
      parsed.operands.some(operand => operand.includes('@')) ? othersProblem : refuses(parsed, site),
  }
}
const othersProblem = 'Only packages of the project are accepted.'

/** Names such as `all`, `std` and `net/http` stand for packages of others, whose tests would run. */
function ownPackageProblem({ operands }: ParsedArguments, site: CallSite): string | null {
  const isOwn = (operand: string) => /^[./]|\.go$/.test(operand) || isInModule(operand, site)
  return operands.every(isOwn) ? null : othersProblem
}
/** Returns whether an import path belongs to the module of the project. */
function isInModule(path: string, { cwd, folder, files }: CallSite): boolean {
  for (let at = cwd; isInside(at, folder); at = parentOf(at)) {
    const lines =
      (files?.realPath(`${at}/go.mod`) ?? null) === null ? null : files?.readText?.(`${at}/go.mod`)?.split('\n')
    const module = lines
      ?.find(line => line.startsWith('module '))
      ?.slice('module '.length)
      .trim()
    if (lines) return module !== undefined && (path === module || path.startsWith(`${module}/`))
    if (at === '/') return false
  }
  return false
}
const goTest = goGrammarOf(
  ownPackageProblem,
  '-run=text -count=number -timeout=word -bench=text -benchmem -benchtime=word -failfast -json -parallel=number -shuffle=word -list=text -skip=text -cpu=text -vet=off|all -covermode=set|count|atomic -fullpath',
)
const goCommands: ReadonlyMap<string, Grammar> = new Map([
  ['test', goTest],
  ['vet', goGrammar('-json -c=number')],
  ['build', goGrammar('')],
  ['list', goGrammar('-m -f=text -json?=text -deps -test -e -find')],
  ['version', goGrammar('')],
  ['doc', goGrammar('-all -short -src -u -c -cmd')],
])
const go: Program = {
  check([name = '', ...args], site) {
    const grammar = goCommands.get(name)
    if (name === 'env') return checkGoEnvironment(args)
    return grammar ? checkGrammar(args, grammar, site) : refuse(`go ${name} may download, install or run something.`)
  },
}
/** The list omits -w and -u, which change settings. */
function checkGoEnvironment(args: readonly string[]): ArgumentCheck {
  const isLookup = args.every(arg => /^[A-Z_0-9]+$/.test(arg) || arg === '-json')
  return isLookup ? { ok: true, group: 'project-code', paths: [] } : refuse('go env is accepted only to show values.')
}

const gofmt: Grammar = {
  group: 'project-code',
  style: 'words',
  flags: flagsOf('-l -d -s -e'),
  operands: { others: 'file', least: 1 },
}

/** The list omits -c and --config, and --out-format, which can write a file. */
const golangciLint: Grammar = {
  group: 'project-code',
  style: 'anywhere',
  flags: flagsOf(
    '-v -E=word -D=word --verbose --fix --fast --new --timeout=word --enable=word --disable=word --new-from-rev=word',
    '--max-issues-per-linter=number --max-same-issues=number --tests?=true|false --allow-parallel-runners --color=auto|always|never',
  ),
  operands: { first: ['text'], others: 'package', least: 1 },
  refuses: ({ operands: [command] }) => (command === 'run' ? null : 'Only golangci-lint run is accepted.'),
}

/** The list omits --config, --target-dir, -Z, --artifact-dir, -C and toolchains (`+nightly`), which may be downloaded. */
const cargoFlags = [
  '-p=word -q -v -r -j=number -F=text --package=word --workspace --all --exclude=word --lib --bins --bin=word --tests --test=word --examples --example=word --benches --bench=word --all-targets',
  '--all-features --features=text --no-default-features --release --profile=word --offline --locked --frozen --quiet --verbose --jobs=number --keep-going --no-run --no-fail-fast --doc --message-format=human|short|json --color=auto|always|never --manifest-path=file --ignore-rust-version --timings',
]
const testNames: Operands = { others: 'text' }
const cargoTestArguments: Grammar = {
  group: 'project-code',
  style: 'anywhere',
  flags: flagsOf(
    '--nocapture --no-capture --test-threads=number --exact --ignored --include-ignored --skip=text --list --show-output --quiet -q --color=auto|always|never',
  ),
  operands: testNames,
}
const lintArguments: Grammar = {
  group: 'project-code',
  style: 'anywhere',
  flags: flagsOf('-D=word -W=word -A=word -F=word --deny=word --warn=word --allow=word --forbid=word'),
  operands: { others: 'none' },
}
function cargoGrammar(operands: Operands, passedOn?: Grammar, ...more: readonly string[]): Grammar {
  return {
    group: 'project-code',
    style: 'anywhere',
    flags: flagsOf(...cargoFlags, ...more),
    operands,
    ...(passedOn && { passedOn }),
  }
}
const nothing: Operands = { others: 'none' }
const formatCheck: Grammar = {
  group: 'project-code',
  style: 'anywhere',
  flags: flagsOf('--check --all -p=word --package=word -q --quiet -v --verbose --message-format=human|short|json'),
  operands: nothing,
  passedOn: {
    group: 'project-code',
    style: 'anywhere',
    flags: flagsOf('--check --color=auto|always|never'),
    operands: nothing,
  },
  refuses: ({ flags, rest }) =>
    flags.has('--check') || rest.includes('--check') ? null : 'cargo fmt is accepted only with --check.',
}
const cargoCommands: ReadonlyMap<string, Grammar> = new Map([
  ['check', cargoGrammar(nothing)],
  ['c', cargoGrammar(nothing)],
  ['build', cargoGrammar(nothing)],
  ['b', cargoGrammar(nothing)],
  ['test', cargoGrammar({ others: 'text', most: 1 }, cargoTestArguments)],
  ['t', cargoGrammar({ others: 'text', most: 1 }, cargoTestArguments)],
  // The list omits --fix, which needs more care than a check.
  ['clippy', cargoGrammar(nothing, lintArguments, '--no-deps')],
  ['doc', cargoGrammar(nothing, undefined, '--no-deps --document-private-items')],
  ['fmt', formatCheck],
  [
    'tree',
    cargoGrammar(
      nothing,
      undefined,
      '-i=word --invert=word -d --duplicates --depth=number -e=word --edges=word --prefix=depth|indent|none',
    ),
  ],
  ['metadata', cargoGrammar(nothing, undefined, '--no-deps --format-version=1')],
])
const cargo: Program = {
  check([name = '', ...args], site) {
    if (args.length === 0 && ['--version', '-V'].includes(name)) return { ok: true, group: 'project-code', paths: [] }
    const grammar = cargoCommands.get(name)
    return grammar
      ? checkGrammar(args, grammar, site)
      : refuse(`cargo ${name} may download, install, publish or run something.`)
  },
}

/** The list omits -f, --eval, -I, -e and assignments, which change what runs. -C must lead into the project. */
const makeGrammar: Grammar = {
  group: 'project-code',
  style: 'anywhere',
  flags: flagsOf(
    '-j?=number -s -k -B -w -C=file --silent --quiet --keep-going --always-make --jobs?=number --no-print-directory --directory=file -l?=number -O --output-sync',
  ),
  operands: { others: 'text', least: 1 },
  refuses: ({ operands }) => {
    const other = operands.find(target => !isUsualScript(target))
    return other === undefined
      ? null
      : `The name ${quote(other)} does not say that the target only tests, checks or builds.`
  },
}

/** Joins `-j 4` to `-j4`, because make takes a number after -j as its value. */
const make: Program = {
  check(args: readonly string[], site: CallSite): ArgumentCheck {
    const joined: string[] = []
    for (const arg of args)
      if (/^\d+$/.test(arg) && joined.at(-1) === '-j') joined.splice(-1, 1, `-j${arg}`)
      else joined.push(arg)
    // A makefile is code of the project only if it is in the project.
    const folder = checkPath('.', site, 'list')
    return folder.ok ? checkGrammar(joined, makeGrammar, site) : refuse(folder.reason)
  },
}

export const compilerPrograms: ReadonlyMap<string, Program> = new Map<string, Program>([
  ['go', go],
  ['gofmt', { check: (args, site) => checkGrammar(args, gofmt, site) }],
  ['golangci-lint', { check: (args, site) => checkGrammar(args, golangciLint, site) }],
  ['cargo', cargo],
  ['make', make],
])
