/** A test agent that asks before it appends a line to a file, so that allowed actions can be counted. Session options: `asks` is the number of asks, `crashIn` the step in which the process kills itself. */
import { appendFileSync } from 'node:fs'
import { approval, defineAgent, StepUnknown, step } from '@holdpoint/drivers'

const message = text => ({ type: 'message.added', text })

export default defineAgent({
  name: 'worker',
  title: 'Writes lines',
  async *run(turn) {
    const { file, asks = 1, crashIn } = turn.session.options
    const killIn = step => crashIn === step && process.kill(process.pid, 'SIGKILL')
    for (let n = 1; n <= asks; n++) {
      const line = `${turn.text}.${n}`
      yield message(`I would like to write ${line}.`)
      const answer = yield* approval(`Write ${line}?`, { tool: 'write', input: { line }, editable: true })
      if (!answer.allowed) {
        yield message(`Not written: ${answer.reason}`)
        continue
      }
      try {
        yield* step('write', () => {
          killIn('writing')
          appendFileSync(file, `${answer.input.line}\n`)
          killIn('written')
        })
        yield message(`Written: ${answer.input.line}`)
      } catch (error) {
        if (!(error instanceof StepUnknown)) throw error
        yield message(`Perhaps written: ${error.message}`)
      }
    }
  },
})
