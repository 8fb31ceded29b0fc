/** Arguments that are harmless for every usual test runner and checker: which tests run and how results are shown. */
import { quote } from '../files/check-path.ts'
import { joinPath } from '../paths.ts'
import type { CallSite } from '../site.ts'
import { flagsOf, type Grammar } from './grammar.ts'
import { isUsualScript } from './script-names.ts'

/**
 * The arguments of a project's script, whose program is not known. Every option here means the same to all usual programs, or stops
 * those that do not know it. Options that name files, plugins, reporters or settings are not among them.
 */
const ofAnyScript: Grammar = {
  group: 'project-code',
  style: 'alone',
  flags: flagsOf(
    '--testNamePattern=text --testPathPattern=text --testPathPatterns=text --grep=text',
    '--run --ci --bail?=number --verbose --silent --quiet --coverage?=true|false --no-coverage --runInBand --watch=false --watchAll=false',
    '--no-watch --forceExit --detectOpenHandles --passWithNoTests --maxWorkers=number --no-color --colors --color --noEmit --fix --check --exit',
    '--timeout=number --testTimeout=number',
  ),
  operands: { others: 'test' },
  refuses: ({ operands }, site) => scriptWordProblem(operands, site),
}
/** -t and -g select tests by name only for test runners. For other programs, they name targets, folders or files. */
const ofTestScript: Grammar = {
  ...ofAnyScript,
  flags: new Map([...ofAnyScript.flags, ...flagsOf('-t=text -g=text')]),
  refuses: ({ flags, operands }, site) =>
    testNameProblem([...(flags.get('-t') ?? []), ...(flags.get('-g') ?? [])]) ?? scriptWordProblem(operands, site),
}

/** Returns the grammar of the arguments for the script with this name. */
export function scriptArguments(script: string): Grammar {
  return /^(?:tests?|unit|integration|e2e|specs?|vitest|jest|mocha)(?:$|[:._-])/.test(script)
    ? ofTestScript
    : ofAnyScript
}

/** A script `test` can also start `nx run-many`, for which -t names targets. A target has no space. */
function testNameProblem(names: readonly string[]): string | null {
  const other = names.find(name => !name.trim().includes(' ') || name.startsWith('/') || name.includes(','))
  return other === undefined
    ? null
    : `${quote(other)} could be the name of another target. Write --testNamePattern or --grep instead of -t or -g.`
}

/**
 * A script can pass a word on to a program that takes it for the name of a script, a task or a target: if `build` runs `turbo run build`,
 * `npm run build deploy` also deploys. So a word must be a path of the project or look like a file of tests, unless the script with this
 * name could run anyway.
 */
export function scriptWordProblem(words: readonly string[], site: CallSite): string | null {
  const other = words.find(word => !isUsualScript(word) && !isTestPath(word, site))
  if (other === undefined) return testFileProblem(words)
  return `The script could take ${quote(other)} for the name of another script. A file or folder needs a “/”, as in “./src”.`
}

function isTestPath(word: string, { cwd, files }: CallSite): boolean {
  const path = withoutTestName(word)
  if (path === '.' || path === '__tests__') return true
  if (sourceEnding.test(path) && looksLikeTest(path)) return true
  return path.includes('/') && (files?.realPath(joinPath(cwd, path)) ?? null) !== null
}
const sourceEnding = /\.(?:[cm]?[jt]sx?|py|rb|go|rs|php|java|kt|vue|svelte|feature)$/

/** Some test runners run every file that is named, so its name must look like a test. A name without an ending only selects tests. */
export function testFileProblem(operands: readonly string[]): string | null {
  const other = operands.map(withoutTestName).find(path => /\.\w+$/.test(path) && !looksLikeTest(path))
  return other === undefined ? null : `The name ${quote(other)} does not look like a test.`
}

/** Removes the part that selects a test in a file: `test_a.py::test_b`, `a.test.ts:12`. */
function withoutTestName(operand: string): string {
  return operand.replace(/::.*$/s, '').replace(/:\d{1,9}(?::\d{1,9})?$/, '')
}

/** Returns whether a path names a test, a file of tests or a folder of tests. */
export function looksLikeTest(path: string): boolean {
  const names = path.split('/')
  return (
    names.some(name => /^(?:tests?|__tests__|specs?|e2e)$/.test(name)) ||
    /(?:^|[._-])(?:tests?|spec)[._-]/.test(names.at(-1) ?? '') ||
    /[._-](?:test|spec)\.[cm]?[jt]sx?$/.test(path)
  )
}
