import { describeAgent } from './suite.ts'

describeAgent('copilot')
