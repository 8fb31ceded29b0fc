import { describeAgent } from './suite.ts'

describeAgent('goose')
