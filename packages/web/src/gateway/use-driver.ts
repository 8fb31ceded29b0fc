/** Looks up drivers with their titles and modes. The list of drivers is cached, and fetched again if a driver is missing from it. */
import type { Call, DriverInfo } from '@holdpoint/protocol'
import { useEffect, useState } from 'react'
import { useGateway } from './gateway-context.ts'

interface DriverList {
  readonly fetchedAt: number
  readonly drivers: Promise<readonly DriverInfo[]>
}
const lists = new WeakMap<Call, DriverList>()
/** The minimum time between two fetches of the list. A missing driver causes a fetch, because a new runner may have added the driver. The limit prevents a fetch at every lookup if no runner does. */
const refetchAfterMs = 60_000

async function findDriver(call: Call, name: string): Promise<DriverInfo | undefined> {
  const known = lists.get(call)
  const found = (await known?.drivers.catch(() => []))?.find(driver => driver.name === name)
  if (found || (known && performance.now() - known.fetchedAt < refetchAfterMs)) return found
  return (await fetchDrivers(call)).find(driver => driver.name === name)
}

function fetchDrivers(call: Call): DriverList['drivers'] {
  const drivers = call('listDrivers', {}).then(({ items }) => items)
  lists.set(call, { fetchedAt: performance.now(), drivers })
  return drivers
}

/** Returns all drivers that runners offer; an empty list until they are loaded. */
export function useDrivers(): readonly DriverInfo[] {
  const { call } = useGateway()
  const [drivers, setDrivers] = useState<readonly DriverInfo[]>([])
  useEffect(() => {
    let cancelled = false
    // A failure can be ignored: the person can still choose all agents.
    fetchDrivers(call).then(
      found => !cancelled && setDrivers(found),
      () => {},
    )
    return () => {
      cancelled = true
    }
  }, [call])
  return drivers
}

/** Returns the driver with this name; undefined until the list is loaded, or if no runner offers the driver. */
export function useDriver(name: string | undefined): DriverInfo | undefined {
  const { call } = useGateway()
  const [driver, setDriver] = useState<DriverInfo>()
  useEffect(() => {
    if (name === undefined) return
    let cancelled = false
    // A failure can be ignored: the page then shows the driver's name instead of its title.
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
