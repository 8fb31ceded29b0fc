/** Starts actors. An actor is a module of `actors/` that runs in its own process, and its exports are called over IPC. */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const actorMain = fileURLToPath(new URL('./actor.mjs', import.meta.url))

export function startActor(name, { execArgv = [] } = {}) {
  const child = fork(actorMain, [name], {
    execArgv,
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const pendingCalls = new Map()
  let calls = 0
  const exited = new Promise(resolve => child.once('exit', resolve))
  child.on('message', ({ id, value, error }) => {
    const { resolve, reject } = pendingCalls.get(id)
    pendingCalls.delete(id)
    if (error === undefined) resolve(value)
    else reject(new Error(`${name}: ${error}`))
  })
  void exited.then(code => {
    for (const { reject } of pendingCalls.values()) reject(new Error(`${name} ended with ${code} during a call`))
  })
  return {
    pid: child.pid,
    call: (method, input) =>
      new Promise((resolve, reject) => {
        const id = ++calls
        pendingCalls.set(id, { resolve, reject })
        child.send({ id, method, input })
      }),
    async stop() {
      if (child.connected) child.disconnect()
      await exited
    },
  }
}
