/** Grammars of tools for JavaScript and TypeScript. Options that load other settings, plugins or code, or write elsewhere, are not on the lists. */
import { flagsOf, type Grammar, type Operands, type ParsedArguments } from './grammar.ts'
import { looksLikeTest, testFileProblem } from './test-arguments.ts'

function tool(operands: Grammar['operands'], flags: readonly string[], refuses?: Grammar['refuses']): Grammar {
  return { group: 'project-code', style: 'alone', flags: flagsOf(...flags), operands, ...(refuses && { refuses }) }
}
const files: Operands = { others: 'file' }
const tests: Operands = { others: 'test' }

const reporters = 'default|verbose|dot|json|tap|tap-flat|basic|tree|hanging-process|github-actions'

/** The list omits -c, -r, --dir, --environment, --outputFile, --globalSetup and reporters from files. `vitest` alone keeps watching. */
const vitest = tool(
  { others: 'test' },
  [
    `-t=text -u -h -v --run --testNamePattern=text --update --version --help --reporter=${reporters}`,
    '--coverage?=true|false --coverage.enabled?=true|false --no-coverage --bail=number --silent?=true|false --watch=false --no-watch',
    '--passWithNoTests --project=word --changed?=word --shard=text --retry=number --testTimeout=number --hookTimeout=number',
    '--maxWorkers=number --minWorkers=number --no-file-parallelism --fileParallelism=false --typecheck?=true|false --globals',
    '--pool=threads|forks|vmThreads|vmForks --no-isolate --no-color --color --hideSkippedTests --allowOnly --exclude=text',
    '--disableConsoleIntercept --printConsoleTrace --expandSnapshotDiff --sequence.shuffle --sequence.seed=number',
  ],
  ({ operands: [command], flags }) => {
    if (['init', 'dev', 'watch'].includes(command ?? '')) return `vitest ${command} does more than run tests once.`
    const runsOnce = ['run', 'related', 'list', 'bench'].includes(command ?? '')
    const hasOption = ['--run', '--no-watch', '--watch', '--version', '-v', '--help', '-h'].some(option =>
      flags.has(option),
    )
    return runsOnce || hasOption ? null : 'vitest keeps watching files unless it is told to run once.'
  },
)

/** The list omits -c, --rootDir, --setupFiles, --globalSetup, --reporters, --transform, --testRunner, --testMatch, --env and --outputFile. */
const jest = tool(
  tests,
  [
    '-t=text -i -u -o -w=text -h -v -b --testNamePattern=text --testPathPattern=text --testPathPatterns=text --testPathIgnorePatterns=text',
    '--coverage?=true|false --no-coverage --collectCoverage --runInBand --verbose?=true|false --silent?=true|false --bail?=number --ci',
    '--watch=false --watchAll=false --no-watchman --watchman=false --no-cache --cache=false --passWithNoTests --maxWorkers=text --forceExit --detectOpenHandles',
    '--listTests --findRelatedTests --selectProjects=word --colors --color --no-color --json --testTimeout=number --onlyChanged',
    '--changedSince=word --lastCommit --expand --notify=false --errorOnDeprecated --logHeapUsage --showSeed --randomize --version --help --updateSnapshot',
    '--runTestsByPath --shard=text --no-colors',
  ],
  // Without --runTestsByPath, names only select some of the tests.
  ({ flags, operands }) => (flags.has('--runTestsByPath') ? testFileProblem(operands) : null),
)

const mochaReporters = 'spec|dot|min|list|json|tap|progress|landing|nyan|doc|markdown'
/** The list omits -r, --require, --config, --package, --ui, --file and --reporter-option. */
const mocha = tool(
  tests,
  [
    `-g=text -f=text -i -b -t=number -s=number -C -c -R=${mochaReporters} --reporter=${mochaReporters}`,
    '--grep=text --fgrep=text --invert --bail --timeout=number --slow=number --exit --recursive --color --no-color --colors --no-colors',
    '--check-leaks --forbid-only --forbid-pending --full-trace --diff --no-diff --inline-diffs --retries=number --sort --parallel --jobs=number --dry-run --version',
  ],
  // Mocha runs every file that is named and every file in a folder that is named.
  ({ operands }) => (operands.every(looksLikeTest) ? null : 'mocha is accepted only for files that look like tests.'),
)

/** The list omits -c, --plugin, --rulesdir, --parser, -o, --cache-location and formatters from files. */
const eslint = tool({ others: 'file' }, [
  '-h -v -f=stylish|json|compact|unix|junit|html|tap|visualstudio|checkstyle --format=stylish|json|compact|unix|junit|html|tap|visualstudio|checkstyle',
  '--ext=text --fix --fix-dry-run --fix-type=text --max-warnings=number --quiet --cache --cache-strategy=metadata|content --no-cache --color --no-color --debug --version --help',
  '--no-warn-ignored --no-error-on-unmatched-pattern --no-inline-config --report-unused-disable-directives --ignore-pattern=text --no-ignore',
  '--report-unused-disable-directives-severity=off|warn|error --exit-on-fatal-error --pass-on-no-patterns --stats',
])

/** The list omits --outDir, --outFile, --declarationDir, --rootDir, --tsBuildInfoFile, --generateTrace, --generateCpuProfile and --watch. */
const tsc = tool({ others: 'file' }, [
  '-p=file -b -h -v --project=file --build --noEmit?=true|false --noEmitOnError --pretty?=true|false --skipLibCheck?=true|false --strict?=true|false',
  '--incremental?=true|false --listFiles --listFilesOnly --listEmittedFiles --showConfig --version --help --all --diagnostics --extendedDiagnostics --traceResolution --explainFiles',
  '--target=word -t=word --module=word -m=word --moduleResolution=word --lib=text --jsx=word --esModuleInterop?=true|false --allowJs?=true|false --checkJs?=true|false',
  '--noUnusedLocals?=true|false --noUnusedParameters?=true|false --noImplicitAny?=true|false --strictNullChecks?=true|false --isolatedModules?=true|false --resolveJsonModule?=true|false --allowImportingTsExtensions?=true|false --types=text --force --verbose --dry -d --declaration --emitDeclarationOnly --noErrorTruncation --stopBuildOnErrors --ignoreConfig --noCheck --preserveWatchOutput',
])

const biomeReporters = 'default|summary|json|json-pretty|github|gitlab|junit|checkstyle|rdjson'
/** The list omits --config-path and --log-file. */
const biome = tool(
  { first: ['text'], others: 'file', least: 1 },
  [
    '--write --fix --unsafe --apply --apply-unsafe --error-on-warnings --no-errors-on-unmatched --max-diagnostics=word --diagnostic-level=info|warn|error --reporter=' +
      biomeReporters,
    '--changed --staged --since=word --colors=off|force --verbose --skip=word --only=word --files-max-size=number --use-server=false --version --help',
    '--formatter-enabled=true|false --linter-enabled=true|false --assist-enabled=true|false --organize-imports-enabled=true|false --skip-errors --skip-parse-errors',
  ],
  ({ operands: [command] }) =>
    ['check', 'lint', 'format', 'ci', 'version', 'explain'].includes(command ?? '')
      ? null
      : 'Only biome check, lint, format and ci are accepted.',
)

/** The list omits --config, --plugin, --ignore-path and --write: only checks. */
const prettier = tool(
  { others: 'file' },
  [
    '-c -l -u --check --list-different --ignore-unknown --no-color --color --log-level=silent|error|warn|log|debug --cache --no-error-on-unmatched-pattern --no-config --no-editorconfig --version',
  ],
  ({ flags }) =>
    ['-c', '-l', '--check', '--list-different', '--version'].some(option => flags.has(option))
      ? null
      : 'prettier is accepted only with --check.',
)

/** Tools of a project that npx, `pnpm exec` and similar commands also start. */
export const nodeTools: ReadonlyMap<string, Grammar> = new Map([
  ['vitest', vitest],
  ['jest', jest],
  ['mocha', mocha],
  ['eslint', eslint],
  ['tsc', tsc],
  ['vue-tsc', tsc],
  ['tsgo', tsc],
  ['biome', biome],
  ['prettier', prettier],
  [
    'oxlint',
    tool(files, [
      '-D=word -W=word -A=word --deny=word --warn=word --allow=word --fix --quiet --deny-warnings --max-warnings=number --type-aware --type-check -f=default|json|unix|github|stylish --format=default|json|unix|github|stylish --version',
    ]),
  ],
])

const nodeReporters = 'spec|tap|dot|junit|lcov'
/** The options of `node --test` and `node --check`. The list omits --require, --import, --loader, --env-file, -e, -p, and reporters and destinations of results. */
export const node: Grammar = {
  group: 'project-code',
  style: 'alone',
  // After the name of a file, everything is an argument of that file: `node deploy.js --check` runs it.
  optionsFirst: true,
  flags: flagsOf(
    '--test -c --check -v --version --test-name-pattern=text --test-skip-pattern=text --test-only --test-concurrency=number --test-timeout=number',
    '--test-force-exit --experimental-test-coverage --test-reporter=' +
      nodeReporters +
      ' --experimental-strip-types --no-warnings --enable-source-maps --trace-warnings --test-shard=text',
  ),
  operands: { others: 'test' },
  refuses: nodeProblem,
}

/** Without --test or --check, node runs any file. With --test, only files that look like tests are accepted. */
function nodeProblem({ flags, operands }: ParsedArguments): string | null {
  if (flags.has('--version') || flags.has('-v')) return operands.length === 0 ? null : 'node --version takes no file.'
  // As the first word, `inspect` starts the debugger, which runs the file that follows.
  if (operands[0] === 'inspect') return 'node inspect runs a file.'
  if (flags.has('--check') || flags.has('-c')) return null
  if (!flags.has('--test')) return 'node is accepted only with --test or --check.'
  return operands.every(looksLikeTest) ? null : 'node --test is accepted only for files that look like tests.'
}
