/** The real Gemini, started by the program. */
import { describeProgram } from './program.ts'

describeProgram('gemini')
