import { afterAll, beforeAll, describe } from 'vitest'
import { Witness } from '../support/event-recorder.ts'
import { closeGateways, glance } from '../support/gateway.ts'
import { walkPath } from './suite.ts'
import { openPlace, type Place, runners, transports } from './transports.ts'

describe.each(transports.flatMap(transport => runners.map(runner => ({ transport, runner }))))(
  'the path $transport, its runner $runner',
  ({ transport, runner }) => {
    let place: Place
    let witness: Witness
    beforeAll(async () => {
      place = await openPlace(transport, runner)
      witness = new Witness(signal => place.watch({ signal }))
      await witness.begun()
      // Agents are known once their runner has announced them.
      while (!(await place.call('listDrivers', {})).items.some(driver => driver.name === 'player')) await glance()
    })
    afterAll(async () => {
      await witness?.close()
      await place?.close()
      await closeGateways()
    })
    walkPath(() => ({ place, witness }))
  },
)
