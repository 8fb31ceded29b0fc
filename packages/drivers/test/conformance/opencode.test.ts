import { describeAgent } from './suite.ts'

describeAgent('opencode')
