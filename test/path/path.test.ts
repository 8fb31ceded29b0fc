import { afterAll, beforeAll, describe } from 'vitest'
import { Witness } from '../support/event-recorder.ts'
import { closeGateways, glance } from '../support/gateway.ts'
import { pathSuite } from './path-suite.ts'
import { openPathSetup, type PathSetup, runners, transports } from './transports.ts'

describe.each(transports.flatMap(transport => runners.map(runner => ({ transport, runner }))))(
  'the path over $transport with runner $runner',
  ({ transport, runner }) => {
    let setup: PathSetup
    let witness: Witness
    beforeAll(async () => {
      setup = await openPathSetup(transport, runner)
      witness = new Witness(signal => setup.watch({ signal }))
      await witness.begun()
      // The runner announces its agents after it has started.
      while (!(await setup.call('listDrivers', {})).items.some(driver => driver.name === 'player')) await glance()
    })
    afterAll(async () => {
      await witness?.close()
      await setup?.close()
      await closeGateways()
    })
    pathSuite(() => ({ setup, witness }))
  },
)
