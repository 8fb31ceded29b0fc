#!/usr/bin/env node
/** Does what `systemctl --user` does with one unit, as far as the tests need it: it really starts and stops the program that the unit names. Its calls are in `calls` of the folder FAKE_LAUNCHER. */
import { spawn, spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = process.env.FAKE_LAUNCHER
const [, command] = process.argv.slice(2)
const pidFile = join(folder, 'pid')
appendFileSync(join(folder, 'calls'), `${process.argv.slice(2).join(' ')}\n`)
if (existsSync(join(folder, `fail-${command}`))) {
  process.stderr.write('Failed to connect to bus: No medium found\nmore\n')
  process.exit(1)
}
const unitFile = join(process.env.XDG_CONFIG_HOME, 'systemd/user/holdpoint.service')
const unit = existsSync(unitFile) ? readFileSync(unitFile, 'utf8') : ''
const setting = name => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? ''
const unquote = word => word.replace(/^"|"$/g, '').replace(/\\(.)/g, '$1').replaceAll('%%', '%')
/** Reads words as systemd.service(5) and systemd.syntax(7) say. */
const wordsOf = line => [...line.matchAll(/"(?:[^"\\]|\\.)*"|\S+/g)].map(([word]) => unquote(word))
const commandOf = name => {
  const [program, ...words] = wordsOf(setting(name))
  return [program, words.map(word => word.replaceAll('$$', '$'))]
}
const env = { HOME: process.env.HOME, PATH: unquote(setting('Environment')).replace(/^PATH=/, '') }

if (command === 'enable') {
  const log = openSync(setting('StandardOutput').replace('append:', '').replaceAll('%%', '%'), 'a')
  const cwd = setting('WorkingDirectory').replaceAll('%%', '%')
  const child = spawn(...commandOf('ExecStart'), { detached: true, stdio: ['ignore', log, log], cwd, env })
  writeFileSync(pidFile, String(child.pid))
  child.unref()
} else if (command === 'disable') {
  process.exitCode = spawnSync(...commandOf('ExecStop'), { env }).status
} else if (command === 'is-active') {
  const isActive = existsSync(pidFile) && existsSync(`/proc/${readFileSync(pidFile, 'utf8')}`)
  console.log(isActive ? 'active' : 'inactive')
  process.exitCode = isActive ? 0 : 3
}
