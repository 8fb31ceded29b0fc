/** Arguments that are harmless for every usual test runner and checker: which tests run and how results are shown. */
import { flagsOf, type Grammar } from './grammar.ts'

/**
 * For a script of the project, whose program is not known. Every option here means the same to all usual programs, or stops
 * those that do not know it. Options that name files, plugins, reporters or settings are not among them.
 */
export const scriptArguments: Grammar = {
  group: 'project-code',
  style: 'anywhere',
  flags: flagsOf(
    '-t=text -g=text --testNamePattern=text --testPathPattern=text --testPathPatterns=text --grep=text',
    '--run --ci --bail?=number --verbose --silent --quiet --coverage?=true|false --no-coverage --runInBand --watch=false --watchAll=false',
    '--no-watch --forceExit --detectOpenHandles --passWithNoTests --maxWorkers=number --no-color --colors --color --noEmit --fix --check --exit',
    '--timeout=number --testTimeout=number',
  ),
  operands: { others: 'test' },
}
