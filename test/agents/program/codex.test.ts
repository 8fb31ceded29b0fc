/** The real Codex, started by the program. */
import { describeProgram } from './program.ts'

describeProgram('codex')
