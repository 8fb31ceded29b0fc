/**
 * Runs commands of the built program one after another in this process, so that Node and the program are loaded once.
 * For a command this is like a separate process: it gets its own arguments, environment and folder, and ends with process.exit.
 */
import { join } from 'node:path'

const main = join(import.meta.dirname, '../../dist/bundle/main.js')
const exit = process.exit
let runs = 0
let queue = Promise.resolve()

process.on('message', command => {
  queue = queue.then(() => run(command)).then(result => process.send(result))
})
process.on('disconnect', () => exit(0))

async function run({ words, env, cwd }) {
  process.argv = [process.argv[0], join(import.meta.dirname, '../../bin/holdpoint.js'), ...words]
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  process.chdir(cwd)
  process.exitCode = undefined
  const out = collect(process.stdout)
  const err = collect(process.stderr)
  const code = await new Promise(resolve => {
    process.exit = given => {
      resolve(given ?? process.exitCode ?? 0)
    }
    runs++
    import(`${main}?run=${runs}`).catch(error => {
      process.stderr.write(String(error.stack))
      resolve(1)
    })
  })
  process.stdout.removeAllListeners('error')
  return { code, out: out(), err: err() }
}

/** Records everything that is written to the stream. Returns a function that stops recording and returns the text. */
function collect(stream) {
  const { write } = stream
  let text = ''
  stream.write = (chunk, encoding, callback = encoding) => {
    text += chunk
    if (typeof callback === 'function') process.nextTick(callback)
    return true
  }
  return () => {
    stream.write = write
    return text
  }
}
