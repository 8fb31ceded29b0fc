import { describeAgent } from './suite.ts'

describeAgent('codex')
