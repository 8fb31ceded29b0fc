import { describeAgent } from './suite.ts'

describeAgent('gemini')
