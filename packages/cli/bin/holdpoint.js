#!/usr/bin/env node
// Each of the two programs is loaded only if it is needed: the supervisor stays small, and commands start fast.
const words = process.argv.slice(2)
const [first = 'up'] = words
/** Options that only print something or start the supervisor in the background, and the one with which the supervisor starts the gateway. */
const unsupervised = ['-h', '--help', '-V', '--version', '--detach', '--supervised']
// A gateway that a crash test has crashed must not restart.
const isCrashTest = process.env.HOLDPOINT_CRASH_AT !== undefined

if ((first === 'up' || first.startsWith('-')) && !isCrashTest && !words.some(word => unsupervised.includes(word)))
  (await import('../dist/bundle/supervisor.js')).supervise(process.argv[1], words)
else await import('../dist/bundle/main.js')
