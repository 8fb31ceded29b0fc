/** Grammars of tools for Python. Options that load plugins or other settings, run a program or write elsewhere are not on the lists. */
import type { CallSite } from '../site.ts'
import { flagsOf, type Grammar, type Operands, type ParsedArguments } from './grammar.ts'
import { type ArgumentCheck, checkGrammar, type Program, refuse } from './grammar-check.ts'

function tool(operands: Operands, flags: readonly string[], refuses?: Grammar['refuses']): Grammar {
  return { group: 'project-code', style: 'anywhere', flags: flagsOf(...flags), operands, ...(refuses && { refuses }) }
}
const files: Operands = { others: 'file' }

/** The list omits -c, -o, -p with a plugin, --rootdir, --confcutdir, --basetemp, --pdb, --log-file, --junitxml, --pyargs, and --doctest-modules and --doctest-glob, which run more than tests. */
const pytest = tool(
  { others: 'test' },
  [
    '-q -v -x -s -l -h -V -k=text -m=text -r=word -n=word -W=word -p=no:cacheprovider|no:warnings|no:randomly|no:xdist|no:cov|no:logging|no:sugar',
    '--quiet --verbose --exitfirst --lf --last-failed --ff --failed-first --nf --new-first --sw --stepwise --tb=auto|long|short|line|native|no --maxfail=number',
    '--durations=number --durations-min=number --co --collect-only --no-header --no-summary --disable-warnings --disable-pytest-warnings --showlocals --show-capture=no|stdout|stderr|log|all',
    '--cov?=file --cov-report=term|term-missing|term:skip-covered|term-missing:skip-covered --no-cov --cov-branch --cov-append --cov-fail-under=number --strict-markers --strict-config --ignore=file --ignore-glob=text --deselect=test',
    '--timeout=number --asyncio-mode=auto|strict --import-mode=prepend|append|importlib --capture=no|sys|fd|tee-sys --color=yes|no|auto --runslow --run-slow --slow --reuse-db --create-db --nomigrations --no-migrations',
    '--numprocesses=word --dist=no|load|loadscope|loadfile|loadgroup|worksteal --markers --fixtures --setup-show --cache-clear --version --keep-duplicates --count=number --reruns=number --randomly-seed=word --no-flaky-report --continue-on-collection-errors --log-cli-level=word --log-level=word',
  ],
  pytestProblem,
)

/** pytest runs every file that is named, so its name must look like a test. */
function pytestProblem({ operands, flags }: ParsedArguments): string | null {
  if ((flags.get('-W') ?? []).some(value => value.includes('.'))) return 'The warning filter would load a module.'
  const other = operands
    .map(operand => operand.replace(/::.*$/s, ''))
    .find(path => /\.\w+$/.test(path) && !isTestFile(path))
  return other === undefined ? null : 'pytest is accepted only for files that look like tests.'
}
function isTestFile(path: string): boolean {
  return /(?:^|\/)(?:tests?|tests?_[^/]*|[^/]*_tests?)\.py$/.test(path)
}

/** unittest runs the code that it loads, so files, modules and classes must be tests of the project. */
const unittest = tool(
  { others: 'test' },
  [
    '-v -q -f -b -c -k=text -s=file -p=text -t=file --verbose --quiet --failfast --buffer --locals --start-directory=file --pattern=text --top-level-directory=file --durations=number',
  ],
  ({ operands, flags }, site) => {
    const patterns = [...(flags.get('-p') ?? []), ...(flags.get('--pattern') ?? [])]
    const [first, ...more] = operands
    // After the folder, discover would take a pattern and a second folder.
    const areTests =
      first === 'discover' ? more.length <= 1 && !more.some(isFile) : operands.every(name => isTestName(name, site))
    return areTests && patterns.every(isTestPattern)
      ? null
      : 'unittest is accepted only for names of tests of the project.'
  },
)
function isFile(path: string): boolean {
  return /\.\w+$/.test(path)
}
/** Returns whether a name belongs to a test of the project, such as `tests.test_a.TestB.test_c` or `tests/test_a.py`. */
function isTestName(name: string, site: CallSite): boolean {
  return isTestFile(name) || (/^[\w.]+$/.test(name) && moduleFolders(site).some(folder => isTestIn(folder, name, site)))
}
/** The folders in which a project has its modules. */
function moduleFolders({ cwd }: CallSite): readonly string[] {
  return [cwd, `${cwd}/src`]
}
/** Returns whether Python loads a test if it gets this name. It loads every module on the way, and a module that is not in the project would be one of Python or of a package. */
function isTestIn(folder: string, name: string, { files }: CallSite): boolean {
  let path = folder
  let isTest = false
  for (const part of name.split('.')) {
    path += `/${part}`
    isTest ||= /^tests?(?:_|$)|_tests?$/.test(part)
    if (!files?.list?.(path)) return isTest && (files?.realPath(`${path}.py`) ?? null) !== null
  }
  return isTest
}
/** Returns whether a pattern matches only tests, such as `test*.py` or `*_test.py`. */
function isTestPattern(pattern: string): boolean {
  return /^tests?[\w*]*\.py$|^[\w*]*_tests?\.py$/.test(pattern)
}

/** The list omits --config, --cache-dir, --output-file and --add-noqa. */
const ruff = tool(
  { first: ['text'], others: 'file', least: 1 },
  [
    '-q -s -v -n -e --quiet --silent --verbose --fix --no-fix --unsafe-fixes --no-unsafe-fixes --diff --check --select=text --ignore=text --extend-select=text --extend-ignore=text',
    '--output-format=concise|full|json|json-lines|junit|grouped|github|gitlab|pylint|rdjson|azure|sarif --statistics --no-cache --exit-zero --exit-non-zero-on-fix --preview --no-preview --show-fixes --show-files --show-settings --line-length=number --target-version=word --exclude=text --extend-exclude=text --respect-gitignore --force-exclude --version --isolated',
  ],
  ({ operands: [command], flags }) => {
    if (command === 'format')
      return flags.has('--check') || flags.has('--diff') ? null : 'ruff format is accepted only with --check.'
    return ['check', 'rule', 'linter', 'version'].includes(command ?? '')
      ? null
      : 'Only ruff check and ruff format --check are accepted.'
  },
)

/** The list omits --config-file, --python-executable, --install-types, --cache-dir, --shadow-file, --custom-typeshed-dir and reports. */
const mypy = tool(files, [
  '-v -V -p=word -m=word --strict --no-strict-optional --ignore-missing-imports --no-error-summary --show-error-codes --hide-error-codes --show-error-context --show-column-numbers --show-error-end --pretty --no-pretty --no-color-output --color-output',
  '--follow-imports=normal|silent|skip|error --no-incremental --explicit-package-bases --namespace-packages --check-untyped-defs --disallow-untyped-defs --disallow-any-generics --warn-return-any --warn-unused-ignores --warn-unreachable --warn-redundant-casts --no-implicit-optional --disable-error-code=word --enable-error-code=word --exclude=text --python-version=word --platform=word --package=word --module=word --strict-equality --strict-optional --version --error-summary --no-site-packages --scripts-are-modules --implicit-reexport --no-implicit-reexport --allow-redefinition --local-partial-types',
])

const black = tool(
  files,
  [
    '-q -v -S -l=number -t=word --check --diff --color --no-color --quiet --verbose --line-length=number --target-version=word --skip-string-normalization --skip-magic-trailing-comma --preview --fast --safe --exclude=text --extend-exclude=text --force-exclude=text --include=text --version',
  ],
  ({ flags }) =>
    ['--check', '--diff', '--version'].some(option => flags.has(option))
      ? null
      : 'black is accepted only with --check or --diff.',
)
const isort = tool(
  files,
  [
    '-c -q -v --check --check-only --diff --df --profile=word --quiet --verbose --line-length=number -l=number --skip=text --skip-glob=text --version',
  ],
  ({ flags }) =>
    ['-c', '--check', '--check-only', '--diff', '--df', '--version'].some(option => flags.has(option))
      ? null
      : 'isort is accepted only with --check.',
)
/** The list omits --config, --append-config, --output-file, --tee, --format and --bug-report. */
const flake8 = tool(files, [
  '-q -v -j=word --max-line-length=number --max-complexity=number --select=text --ignore=text --extend-ignore=text --extend-select=text --exclude=text --extend-exclude=text --per-file-ignores=text --count --statistics --show-source --quiet --verbose --exit-zero --max-doc-length=number --version',
])
/** The list omits --init-hook, --load-plugins, --rcfile, --output and --clear-cache-post-run. */
const pylint = tool(files, [
  '-E -j=number -d=text -e=text -r=y|n -s=y|n --errors-only --disable=text --enable=text --jobs=number --reports=y|n --score=y|n --output-format=text|colorized|json|json2|parseable|msvs --max-line-length=number --recursive=y|n --fail-under=text --fail-on=text --exit-zero --ignore=text --ignore-patterns=text --verbose --version --py-version=word',
])
/** Some programs read the names of files from standard input, so the files cannot be checked. */
function namesFromInput({ operands }: ParsedArguments): string | null {
  return operands.includes('-') ? 'The names of the files would come from standard input.' : null
}
/** The list omits --pythonpath, --project outside, --createstub, --watch and --typeshedpath. */
const pyright = tool(
  files,
  [
    '-p=file --project=file --outputjson --stats --level=error|warning --verbose --warnings --pythonversion=word --pythonplatform=word --skipunannotated --dependencies --version',
  ],
  namesFromInput,
)

const tools: ReadonlyMap<string, Grammar> = new Map([
  ['pytest', pytest],
  ['py.test', pytest],
  ['ruff', ruff],
  ['mypy', mypy],
  ['black', black],
  ['isort', isort],
  ['flake8', flake8],
  ['pylint', pylint],
  ['pyright', pyright],
])
/** The modules `py_compile` and `compileall` run nothing and write the result beside the source. Without a file, compileall would compile all of Python's modules. */
const compile = tool({ others: 'file', least: 1 }, ['-q -l -f'], namesFromInput)
const moduleTools: ReadonlyMap<string, Grammar> = new Map([
  ...tools,
  ['unittest', unittest],
  ['py_compile', compile],
  ['compileall', compile],
])

/** `python -m pytest`, `python --version` and `python manage.py test`. Everything else may run any code. */
const python: Program = {
  check(args: readonly string[], site: CallSite): ArgumentCheck {
    const [first = '', second = '', ...rest] = args
    if (args.length === 1 && ['--version', '-V', '-VV'].includes(first))
      return { ok: true, group: 'project-code', paths: [] }
    if (first === 'manage.py' && second === 'test') return checkGrammar(rest, djangoTest, site)
    const module = first === '-m' ? moduleTools.get(second) : undefined
    if (!module) return refuse('python -m is accepted only with tools that Holdpoint knows.')
    return checkGrammar(rest, module, site)
  },
}
/** Django finds the tests in an app, which is a folder. It loads a module that is named, which would run it. */
const djangoTest = tool(
  { others: 'test' },
  [
    '-v=number -k=text --verbosity=number --keepdb --noinput --no-input --failfast --parallel?=word --reverse --timing --tag=word --exclude-tag=word --shuffle --buffer -b --no-color',
  ],
  ({ operands }, site) =>
    operands.every(name => isApp(name, site) || isTestName(name, site))
      ? null
      : 'manage.py test is accepted only for apps and tests of the project.',
)
function isApp(name: string, { cwd, files }: CallSite): boolean {
  return /^\w+$/.test(name) && (files?.list?.(`${cwd}/${name}`) ?? null) !== null
}

export const pythonPrograms: ReadonlyMap<string, Program> = new Map<string, Program>([
  ['python', python],
  ['python3', python],
  ...[...tools].map(
    ([name, grammar]) =>
      [name, { check: (args, site) => checkGrammar(args, grammar, site) } satisfies Program] as const,
  ),
])
