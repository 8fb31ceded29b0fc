/** Asks before it writes a line into a file: what was allowed can be counted. `asks` in the session's options says how often, `crashIn` where its process dies. */
import { appendFileSync } from 'node:fs'
import { approval, defineAgent, StepUnknown, step } from '@holdpoint/drivers'

const say = text => ({ type: 'message.added', text })

export default defineAgent({
  name: 'worker',
  title: 'Writes lines',
  async *run(turn) {
    const { file, asks = 1, crashIn } = turn.session.options
    const dieIn = place => crashIn === place && process.kill(process.pid, 'SIGKILL')
    for (let n = 1; n <= asks; n++) {
      const line = `${turn.text}.${n}`
      yield say(`I would like to write ${line}.`)
      const answer = yield* approval(`Write ${line}?`, { tool: 'write', input: { line }, editable: true })
      if (!answer.allowed) {
        yield say(`Not written: ${answer.reason}`)
        continue
      }
      try {
        yield* step('write', () => {
          dieIn('writing')
          appendFileSync(file, `${answer.input.line}\n`)
          dieIn('written')
        })
        yield say(`Written: ${answer.input.line}`)
      } catch (error) {
        if (!(error instanceof StepUnknown)) throw error
        yield say(`Perhaps written: ${error.message}`)
      }
    }
  },
})
