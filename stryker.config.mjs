/** `npm run mutation`: changes the code that decides who may do what, and checks that a test fails for each change. */
export default {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner', './scripts/stryker-ignore-texts.mjs'],
  ignorers: ['texts'],
  vitest: { configFile: 'vitest.mutation.config.ts' },
  coverageAnalysis: 'perTest',
  // Stryker would rewrite this file with the JavaScript API of TypeScript, which TypeScript 7 does not have. The tests do not need it.
  tsconfigFile: 'no-tsconfig.json',
  mutate: [
    'packages/server/src/authenticate.ts',
    'packages/server/src/sign-in-cookie.ts',
    'packages/engine/src/authorization.ts',
    'packages/engine/src/pending-quota.ts',
    'packages/engine/src/transitions.ts',
    'packages/engine/src/request-transitions.ts',
    'packages/engine/src/session-transitions.ts',
    'packages/engine/src/operations/delivery.ts',
  ],
  ignorePatterns: ['dist', 'bench', 'examples', 'reports'],
  concurrency: 2,
  timeoutMS: 20_000,
  reporters: ['clear-text', 'progress', 'json'],
  jsonReporter: { fileName: 'reports/mutation.json' },
  thresholds: { high: 95, low: 90, break: 90 },
}
