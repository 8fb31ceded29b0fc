/** The real Claude Code, started by the program. */
import { describeProgram } from './program.ts'

describeProgram('claude')
