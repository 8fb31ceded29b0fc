/** The real GitHub Copilot, started by the program. */
import { describeProgram } from './program.ts'

describeProgram('copilot')
