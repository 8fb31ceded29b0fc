/** The real Qwen Code, started by the program. */
import { describeProgram } from './program.ts'

describeProgram('qwen')
