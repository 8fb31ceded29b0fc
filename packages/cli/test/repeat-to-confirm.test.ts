import { expect, it } from 'vitest'
import { RepeatToConfirm, repeatWithinMs } from '../src/tui/prompt/repeat-to-confirm.ts'

it('a second press of the same key confirms an action unless another key came between or too much time has passed', () => {
  let now = 0
  const twice = new RepeatToConfirm(() => now)
  expect(twice.take()).toBeNull()
  twice.arm('leave')
  now += repeatWithinMs - 1
  expect(twice.take()).toBe('leave')
  expect(twice.take(), 'once').toBeNull()
  twice.arm('leave')
  now += repeatWithinMs
  expect(twice.take()).toBeNull()
})
