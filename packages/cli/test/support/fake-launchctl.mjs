#!/usr/bin/env node
/** Does what `launchctl` does with one service, as far as the tests need it: it really starts and stops the program that the property list names. Its calls are in `calls` of the folder FAKE_LAUNCHER. */
import { spawn } from 'node:child_process'
import { appendFileSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = process.env.FAKE_LAUNCHER
const [command, target, file] = process.argv.slice(2)
const pidFile = join(folder, 'pid')
appendFileSync(join(folder, 'calls'), `${process.argv.slice(2).join(' ')}\n`)
const pid = existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8')) : 0
const decode = text => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')

if (command === 'bootstrap') {
  const text = readFileSync(file, 'utf8')
  const stringsAfter = key =>
    [
      ...text
        .split(`<key>${key}</key>`)[1]
        .split('<key>')[0]
        .matchAll(/<string>(.*)<\/string>/g),
    ].map(found => decode(found[1]))
  const [program, ...words] = stringsAfter('ProgramArguments')
  const [logFile] = stringsAfter('StandardOutPath')
  const [cwd] = stringsAfter('WorkingDirectory')
  const [PATH] = stringsAfter('PATH')
  const log = openSync(logFile, 'a')
  const env = { HOME: process.env.HOME, PATH }
  const child = spawn(program, words, { detached: true, stdio: ['ignore', log, log], cwd, env })
  writeFileSync(pidFile, String(child.pid))
  child.unref()
} else if (command === 'bootout') process.kill(pid, 'SIGTERM')
else if (target.includes('/holdpoint')) console.log(`${target} = {\n\tstate = ${pid ? 'running' : 'waiting'}\n}`)
