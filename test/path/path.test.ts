import { afterAll, beforeAll, describe } from 'vitest'
import { EventRecorder } from '../support/event-recorder.ts'
import { closeGateways, shortPause } from '../support/gateway.ts'
import { pathSuite } from './path-suite.ts'
import { openPathSetup, type PathSetup, runners, transports } from './transports.ts'

describe.each(transports.flatMap(transport => runners.map(runner => ({ transport, runner }))))(
  'the path over $transport ($runner runner)',
  ({ transport, runner }) => {
    let setup: PathSetup
    let recorder: EventRecorder
    beforeAll(async () => {
      setup = await openPathSetup(transport, runner)
      recorder = new EventRecorder(signal => setup.watch({ signal }))
      await recorder.connected()
      // The runner announces its agents after it has started.
      while (!(await setup.call('listDrivers', {})).items.some(driver => driver.name === 'player')) await shortPause()
    })
    afterAll(async () => {
      await recorder?.close()
      await setup?.close()
      await closeGateways()
    })
    pathSuite(() => ({ setup, recorder }))
  },
)
