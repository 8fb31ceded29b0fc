import { describeAgent } from './suite.ts'

describeAgent('claude')
