/** The real claude-agent-acp, started by the program. */
import { describeProgram } from './program.ts'

describeProgram('claude-agent-acp')
