/**
 * Simulations with fixed seeds. A failure names its seed; `SEED=… npx vitest run test/simulation` repeats exactly that run,
 * and `npm run simulate -- --minutes 10` runs new seeds.
 */
import { expect, it, vi } from 'vitest'
import { Random } from './random.ts'
import { simulate } from './simulator.ts'

const steps = Number(process.env.STEPS ?? 400)
const minutes = Number(process.env.MINUTES ?? 0)
const seeds = process.env.SEED ? [Number(process.env.SEED)] : Array.from({ length: 16 }, (_, i) => 1000 + i)

it.each(seeds)('the simulation with seed %i keeps all invariants', async seed => {
  const { actions, requests } = await simulate(seed, steps)
  expect(requests).toBeGreaterThan(0)
  expect(actions).toBeGreaterThan(0)
})

it('two simulations with the same seed have exactly the same steps, however much real time passes', async () => {
  const [seed] = seeds as [number]
  const first = await simulate(seed, steps)
  // Between any two readings of a real clock, up to 30 s pass in the second run.
  const random = new Random(seed)
  let now = Date.now()
  const pass = () => {
    now += random.below(30_000)
    return now
  }
  const clocks = [vi.spyOn(performance, 'now').mockImplementation(pass), vi.spyOn(Date, 'now').mockImplementation(pass)]
  const second = await simulate(seed, steps).finally(() => {
    for (const clock of clocks) clock.mockRestore()
  })
  expect(second.trace).toEqual(first.trace)
  expect((await simulate(seed + 1, steps)).trace).not.toEqual(first.trace)
})

it('simulations with new seeds keep all invariants for the number of minutes in `MINUTES`', {
  timeout: minutes * 60_000 + 30_000,
}, async () => {
  const endsAt = Date.now() + minutes * 60_000
  let count = 0
  for (let seed = Math.floor(Math.random() * 2 ** 31); Date.now() < endsAt; seed++, count++) await simulate(seed, steps)
  if (minutes > 0) console.log(`${count} simulations with new seeds`)
})
