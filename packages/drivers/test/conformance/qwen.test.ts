import { describeAgent } from './suite.ts'

describeAgent('qwen')
