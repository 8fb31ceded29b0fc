/** The real opencode, started by the program. */
import { describeProgram } from './program.ts'

describeProgram('opencode')
