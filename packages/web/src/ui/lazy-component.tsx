/** Parts of the page that are fetched when they are first needed, or before, when there is time. One that could not be had says so, and is fetched again once the gateway is back. */
import { type ComponentType, type ReactNode, useEffect, useState } from 'react'
import { useLive } from '../gateway/gateway-context.ts'
import { Skeleton } from './skeleton.tsx'

const known: (() => Promise<unknown>)[] = []

/** A gateway that is away, or newer than this page, must not take a screen with it that could have been here already. */
export function preloadAll(): void {
  for (const fetch of known) fetch().catch(() => {}) // whoever needs it will try again, and say so
}

/** `meanwhile` is what stands in its place; left out: the shape of what is coming, or why it does not come. */
export function lazyComponent<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  meanwhile?: (props: Props) => ReactNode,
): ComponentType<Props> {
  let got: ComponentType<Props> | null = null
  const fetch = async () => {
    got ??= await load()
    return got
  }
  known.push(fetch)
  // biome-ignore lint/correctness/noComponentHookFactories: called once for each part, when the page is loaded
  return function Fetched(props: Props): ReactNode {
    const live = useLive()
    const [Part, setPart] = useState(() => got)
    const [failed, setFailed] = useState(false)
    // biome-ignore lint/correctness/useExhaustiveDependencies: a gateway that is back may have it
    useEffect(() => {
      if (Part) return
      let stale = false
      fetch().then(
        part => stale || setPart(() => part),
        () => stale || setFailed(true),
      )
      return () => {
        stale = true
      }
    }, [Part, live])
    if (Part) return <Part {...props} />
    if (meanwhile) return meanwhile(props)
    return failed ? <Missing /> : <Skeleton kind="row" />
  }
}

/** A newer gateway has other files: only the page itself, loaded again, knows their names. */
function Missing(): ReactNode {
  return (
    <div className="page" role="alert">
      <p>This part of the page could not be loaded. It is tried again once the gateway is back.</p>
      <button type="button" className="button" onClick={() => location.reload()}>
        Load the page again
      </button>
    </div>
  )
}
