/** Puts actors on: each is a module of `actors/` in a process of its own, whose functions are called over the channel to it. */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const shim = fileURLToPath(new URL('./actor.mjs', import.meta.url))

export function enter(name, { execArgv = [] } = {}) {
  const child = fork(shim, [name], {
    execArgv,
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const waiting = new Map()
  let calls = 0
  const gone = new Promise(resolve => child.once('exit', resolve))
  child.on('message', ({ id, value, error }) => {
    const { resolve, reject } = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) resolve(value)
    else reject(new Error(`${name}: ${error}`))
  })
  void gone.then(code => {
    for (const { reject } of waiting.values()) reject(new Error(`${name} ended with ${code} in the middle of its work`))
  })
  return {
    pid: child.pid,
    call: (act, input) =>
      new Promise((resolve, reject) => {
        const id = ++calls
        waiting.set(id, { resolve, reject })
        child.send({ id, act, input })
      }),
    async leave() {
      if (child.connected) child.disconnect()
      await gone
    },
  }
}
