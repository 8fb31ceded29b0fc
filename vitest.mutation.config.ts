/** The tests that mutation testing runs: those of the packages whose decisions it checks, without databases in other processes. */
import { mergeConfig } from 'vitest/config'
import base from './vitest.config.ts'

const config = mergeConfig(base, {})
config.test = {
  ...config.test,
  include: ['packages/{protocol,engine,server,rules}/test/**/*.test.ts'],
  globalSetup: [],
}
export default config
