/** What can run, asked for once and now and then again where a name is missing: the page calls drivers by their titles and offers their modes. */
import type { Call, DriverInfo } from '@holdpoint/protocol'
import { useEffect, useState } from 'react'
import { useGateway } from './gateway-context.ts'

interface Listing {
  readonly at: number
  readonly drivers: Promise<readonly DriverInfo[]>
}
const listings = new WeakMap<Call, Listing>()
/** A runner that came later brings drivers; an agent that lives elsewhere never has one. */
const freshMs = 60_000

async function findDriver(call: Call, name: string): Promise<DriverInfo | undefined> {
  const known = listings.get(call)
  const found = (await known?.drivers.catch(() => []))?.find(driver => driver.name === name)
  if (found || (known && performance.now() - known.at < freshMs)) return found
  const drivers = call('listDrivers', {}).then(({ items }) => items)
  listings.set(call, { at: performance.now(), drivers })
  return (await drivers).find(driver => driver.name === name)
}

/** Undefined until it is known, or where no runner has it. */
export function useDriver(name: string | undefined): DriverInfo | undefined {
  const { call } = useGateway()
  const [driver, setDriver] = useState<DriverInfo>()
  useEffect(() => {
    if (name === undefined) return
    let left = false
    // A title is a courtesy: without it the driver's name stands there.
    findDriver(call, name).then(
      found => !left && setDriver(found),
      () => {},
    )
    return () => {
      left = true
    }
  }, [call, name])
  return driver?.name === name ? driver : undefined
}
