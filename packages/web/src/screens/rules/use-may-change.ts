/** Returns what the signed-in person may do with each rule. People change their own rules, and the owner changes all. */
import type { Rule } from '@holdpoint/protocol'
import { useGateway, useMay } from '../../gateway/gateway-context.ts'

export function useMayChange(): (rule: Rule) => boolean {
  const { me } = useGateway()
  const may = useMay()
  return ({ madeById }) => madeById === me || may('rule.others')
}
