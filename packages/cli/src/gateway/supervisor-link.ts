/** The gateway's side of its supervisor: takes over the sockets that the supervisor kept during a crash, and tells the supervisor when the gateway is ready. */
import type { SendHandle } from 'node:child_process'
import type { SocketKeeper } from '@holdpoint/server'
import type { GatewayMessage, SupervisorMessage } from '../supervisor/supervisor.ts'

export interface SupervisorLink {
  readonly keeper: SocketKeeper
  readonly pid: number
  /** Resolves when the supervisor can no longer miss the message, even if this process is killed now. */
  reportReady(): Promise<void>
  /** Aborts when the supervisor has ended. The gateway then stops too, so that the next `holdpoint up` can start. */
  readonly gone: AbortSignal
}

const checkMs = 500

/** Returns null if this process was not started by a supervisor. */
export function connectSupervisor(start: 'first' | 'again' | undefined): SupervisorLink | null {
  if (start === undefined || !process.send) return null
  const gone = new AbortController()
  let isReady = false
  // Node emits no `disconnect` if the supervisor ends before it has received a socket, so check the connection regularly.
  setInterval(() => {
    if (process.connected) return
    if (isReady) gone.abort()
    else process.exit(1)
  }, checkMs).unref()
  const send = (message: GatewayMessage, handle?: object) => process.send?.(message, handle as SendHandle) // a handle of a listening server
  const keeper: SocketKeeper = {
    take: address =>
      new Promise(resolve => {
        const onMessage = ({ taken }: SupervisorMessage, handle: object | undefined) => {
          if (taken !== address) return
          process.off('message', onMessage)
          resolve(handle ?? null)
        }
        process.on('message', onMessage)
        send({ take: address })
      }),
    keep: (address, handle) => send({ keep: address }, handle),
  }
  return {
    keeper,
    pid: process.ppid,
    reportReady: () =>
      new Promise(resolve => {
        const message: GatewayMessage = { ready: true }
        process.send?.(message, undefined, undefined, () => {
          isReady = true
          resolve()
        })
      }),
    gone: gone.signal,
  }
}
