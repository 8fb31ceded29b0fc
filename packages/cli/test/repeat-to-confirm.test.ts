import { expect, it } from 'vitest'
import { RepeatToConfirm, repeatWithinMs } from '../src/tui/prompt/repeat-to-confirm.ts'

it('a repeated key confirms its action unless another key came between or too much time has passed', () => {
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
