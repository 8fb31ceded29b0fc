/** Lists the agents that can be started, and keeps the list up to date. */
import { useEffect, useState } from 'react'
import { errorMessage } from '../../../gateway/error-message.ts'
import { useGateway } from '../../../gateway/gateway-context.ts'
import { type Driver, offeredDrivers } from './new-session-form.ts'

const pollMs = 1000

export interface OfferedDrivers {
  /** Null until the drivers are loaded. */
  readonly drivers: readonly Driver[] | null
  /** The reason why the last attempt to load the drivers failed. */
  readonly loadProblem: string | null
}

/** Polls the list of drivers, so that the page notices a new runner or a completed sign-in. */
export function useOfferedDrivers(): OfferedDrivers {
  const { call } = useGateway()
  const [list, setList] = useState<OfferedDrivers>({ drivers: null, loadProblem: null })
  useEffect(() => {
    const controller = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const poll = async () => {
      try {
        const { items } = await call('listDrivers', {}, { signal: controller.signal })
        setList({ drivers: offeredDrivers(items), loadProblem: null })
      } catch (error) {
        setList(before => ({ ...before, loadProblem: errorMessage(error) }))
      }
      if (!controller.signal.aborted) timer = setTimeout(poll, pollMs)
    }
    void poll()
    return () => {
      controller.abort()
      clearTimeout(timer)
    }
  }, [call])
  return list
}
