/** The tests that mutation testing runs for the file in the variable MUTATION_TARGET. */
import { mergeConfig } from 'vitest/config'
import { mutationTargets } from './scripts/mutation-targets.mjs'
import base from './vitest.config.ts'

const target = process.env.MUTATION_TARGET as keyof typeof mutationTargets | undefined // an unknown file has no tests, which ends the run

const config = mergeConfig(base, {})
config.test = {
  ...config.test,
  include: target === undefined ? Object.values(mutationTargets).flat() : mutationTargets[target],
  // A mutant that makes a test wait forever should fail soon.
  testTimeout: 8000,
  globalSetup: [],
  // A mutant must not leave its modules to the tests of the next one.
  isolate: true,
}
export default config
