/** Tests when the park timer reports the process of a waiting request. */
import { expect, it } from 'vitest'
import { ParkTimer } from '../src/session/park-timer.ts'
import { ManualClock } from './runner-fixture.ts'

function start() {
  const clock = new ManualClock()
  const reports: (string | undefined)[] = []
  let isPending = true
  const timer = new ParkTimer({
    clock,
    parkAfterMs: () => null,
    hasPendingRequests: () => isPending,
    prepare: async () => {},
    whyNotParkable: () => null,
    park: () => {},
    onChange: reason => reports.push(reason),
  })
  timer.update()
  const resolve = () => {
    isPending = false
    timer.update()
  }
  return { clock, reports, resolve }
}

it('the park timer reports no process state for a request that is answered at once', async () => {
  const { clock, reports, resolve } = start()
  await clock.advance(900)
  resolve()
  await clock.advance(5000)
  expect(reports).toEqual([])
})

it('the park timer reports the process state once a request is pending for a second', async () => {
  const { clock, reports } = start()
  await clock.advance(1000)
  expect(reports).toEqual([undefined])
})
