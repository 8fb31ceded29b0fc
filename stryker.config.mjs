/** The settings of mutation testing for one file. `npm run mutation` (scripts/mutation.mjs) starts Stryker with this file for each target. */
export default {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner', './scripts/stryker-ignore-texts.mjs'],
  ignorers: ['texts'],
  vitest: { configFile: 'vitest.mutation.config.ts' },
  coverageAnalysis: 'perTest',
  // Stryker would rewrite this file with the JavaScript API of TypeScript, which TypeScript 7 does not have. The tests do not need it.
  tsconfigFile: 'no-tsconfig.json',
  ignorePatterns: ['dist', 'bench', 'examples', 'reports', 'docs'],
  concurrency: Number(process.env.MUTATION_CONCURRENCY ?? 2),
  // A mutant that exceeds this time counts as killed, so it must not be reached just because the machine is busy. Stryker ends endless loops earlier.
  timeoutMS: 60_000,
  reporters: ['clear-text', 'json'],
  clearTextReporter: { reportTests: false, reportScoreTable: false },
  jsonReporter: { fileName: process.env.MUTATION_REPORT ?? 'reports/mutation.json' },
  // The script compares the score of all files together.
  thresholds: { high: 95, low: 90, break: null },
}
