/** Derives what an action touches. */
import type { Action, Risk } from '@holdpoint/protocol'
import type { CallSite } from './site.ts'

export function riskOf(_action: Action, _site: CallSite): Risk {
  return { level: 'notable', touches: ['unreadable'] }
}
