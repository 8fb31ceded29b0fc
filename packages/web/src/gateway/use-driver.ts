/** Looks up a driver's title and modes. The list is cached, and fetched again when a driver is not in it. */
import type { Call, DriverInfo } from '@holdpoint/protocol'
import { useEffect, useState } from 'react'
import { useGateway } from './gateway-context.ts'

interface DriverList {
  readonly fetchedAt: number
  readonly drivers: Promise<readonly DriverInfo[]>
}
const lists = new WeakMap<Call, DriverList>()
/** A new runner may add drivers, but an external agent never appears in the list: do not ask for it at every render. */
const refetchAfterMs = 60_000

async function findDriver(call: Call, name: string): Promise<DriverInfo | undefined> {
  const known = lists.get(call)
  const found = (await known?.drivers.catch(() => []))?.find(driver => driver.name === name)
  if (found || (known && performance.now() - known.fetchedAt < refetchAfterMs)) return found
  const drivers = call('listDrivers', {}).then(({ items }) => items)
  lists.set(call, { fetchedAt: performance.now(), drivers })
  return (await drivers).find(driver => driver.name === name)
}

/** Undefined until the list is loaded, or if no runner has the driver. */
export function useDriver(name: string | undefined): DriverInfo | undefined {
  const { call } = useGateway()
  const [driver, setDriver] = useState<DriverInfo>()
  useEffect(() => {
    if (name === undefined) return
    let cancelled = false
    // Without a title the page shows the driver's name, so a failure is ignored.
    findDriver(call, name).then(
      found => !cancelled && setDriver(found),
      () => {},
    )
    return () => {
      cancelled = true
    }
  }, [call, name])
  return driver?.name === name ? driver : undefined
}
