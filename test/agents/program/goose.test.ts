/** The real Goose, started by the program. */
import { describeProgram } from './program.ts'

describeProgram('goose')
