/** The tests that mutation testing runs for the file in the variable MUTATION_TARGET. */
import { mergeConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { mutationTargets } from './scripts/mutation-targets.mjs'
import base from './vitest.config.ts'

const target = process.env.MUTATION_TARGET as keyof typeof mutationTargets | undefined // an unknown file has no tests, which ends the run

const files = target === undefined ? Object.values(mutationTargets).flat() : mutationTargets[target]

/** Runs the tests in the order of the list, so that most mutants are killed before a slow test runs. */
class InListedOrder extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const position = ({ moduleId }: TestSpecification) => files.findIndex(file => moduleId.endsWith(file))
    return specifications.toSorted((a, b) => position(a) - position(b))
  }
}

const config = mergeConfig(base, {})
config.test = {
  ...config.test,
  include: files,
  sequence: { sequencer: InListedOrder },
  // A mutant that makes a test wait forever should fail soon.
  testTimeout: 15_000,
  globalSetup: [],
  // Stryker runs tests in threads, which do not take the options of Node for processes.
  execArgv: [],
  // A mutant must not leave its modules to the tests of the next one.
  isolate: true,
}
export default config
