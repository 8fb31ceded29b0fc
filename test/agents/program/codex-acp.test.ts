/** The real codex-acp, started by the program. */
import { describeProgram } from './program.ts'

describeProgram('codex-acp')
