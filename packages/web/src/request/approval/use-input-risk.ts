/** Asks the gateway what an edited input touches, because only the gateway can look at the files of the agent's machine. */
import { unknownRisk } from '@holdpoint/client'
import type { JsonObject, RequestId, Risk } from '@holdpoint/protocol'
import { useEffect, useState } from 'react'
import { useGateway } from '../../gateway/gateway-context.ts'
import { useDebounced } from '../../ui/use-debounced.ts'

/** Returns the risk of the input; null while it is loading, and if there is no input. */
export function useInputRisk(id: RequestId, input: JsonObject | null): Risk | null {
  const { call } = useGateway()
  const [result, setResult] = useState<{ readonly key: string; readonly risk: Risk } | null>(null)
  const key = JSON.stringify(input)
  const settledKey = useDebounced(key)
  useEffect(() => {
    const settled = JSON.parse(settledKey) as JsonObject | null // the text was written above
    if (!settled) return
    const controller = new AbortController()
    call('checkInput', { id, input: settled }, { signal: controller.signal }).then(
      ({ risk }) => setResult({ key: settledKey, risk }),
      () => {
        if (!controller.signal.aborted) setResult({ key: settledKey, risk: unknownRisk })
      },
    )
    return () => controller.abort()
  }, [call, id, settledKey])
  return input && result?.key === key ? result.risk : null
}
