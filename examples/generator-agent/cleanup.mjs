/** An agent that Holdpoint runs. After a crash, Holdpoint runs it again from the start, and finished asks and steps return their recorded results. */
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { approval, choice, defineAgent, say, step } from '@holdpoint/drivers'

const dayMs = 24 * 3600 * 1000

export default defineAgent({
  name: 'cleanup',
  title: 'Cleanup',
  async *run(turn) {
    const days = yield* choice('How old must a log file be to be deleted?', ['1 day', '7 days', '30 days'])
    if (days === null) return yield say('Nothing was deleted.')
    const limitMs = Number.parseInt(days.value, 10) * dayMs
    const files = yield* step('list old log files', () => oldLogFiles(turn.cwd, limitMs))
    if (files.length === 0) return yield say(`No log file is older than ${days.value}.`)
    const answer = yield* approval(`Delete ${files.length} log files?`, {
      tool: 'Delete',
      input: { files },
      editable: true,
    })
    if (!answer.allowed) return yield say(`Nothing was deleted: ${answer.reason}`)
    // The person may have edited the list, so delete the approved files, not the files that were asked about.
    const deleted = yield* step('delete log files', () => deleteFiles(turn.cwd, answer.input.files))
    yield say(`Deleted ${deleted.join(', ')}.`)
  },
})

function oldLogFiles(folder, limitMs) {
  const names = readdirSync(folder).filter(name => name.endsWith('.log'))
  return names.filter(name => Date.now() - statSync(join(folder, name)).mtimeMs > limitMs)
}

function deleteFiles(folder, names) {
  for (const name of names) rmSync(join(folder, name), { force: true })
  return names
}
