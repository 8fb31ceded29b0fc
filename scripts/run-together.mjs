/** Runs several npm scripts at the same time: `node scripts/run-together.mjs NAME…`. Prints the output of each when it ends, and fails if one of them fails. */
import { spawn } from 'node:child_process'

const names = process.argv.slice(2)
await Promise.all(names.map(runScript))

/** @param {string} name */
async function runScript(name) {
  const child = spawn('npm', ['run', '--silent', name], {
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', chunk => {
      output += chunk
    })
  }
  const code = await new Promise(resolve => {
    child.once('error', error => {
      output += String(error)
    })
    child.once('close', resolve)
  })
  process.stdout.write(output)
  if (code === 0) return
  console.error(`npm run ${name} failed with exit code ${code}.`)
  process.exitCode = 1
}
