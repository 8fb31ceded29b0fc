/**
 * Components that are loaded on first use, or earlier by `preloadAll`. A component that fails to load keeps its fallback, and loads again when the gateway is back.
 * React.lazy can’t be used here because it caches a rejected import forever.
 */
import { type ComponentType, type ReactNode, useEffect, useState } from 'react'
import { useLive } from '../gateway/gateway-context.ts'
import { Skeleton } from './skeleton.tsx'

const loaders: (() => Promise<unknown>)[] = []

/** Loads every lazy component now, so that screens still open if the gateway stops or is replaced by a newer version. */
export function preloadAll(): void {
  for (const load of loaders) load().catch(() => {}) // a component that fails here loads again when it is used, and reports the failure then
}

/** Creates a component that renders `fallback` until its implementation is loaded. The default fallback is a skeleton, or a message after a failure. */
export function lazyComponent<Props extends object>(
  importComponent: () => Promise<ComponentType<Props>>,
  fallback?: (props: Props) => ReactNode,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | null = null
  const load = async () => {
    loaded ??= await importComponent()
    return loaded
  }
  loaders.push(load)
  // biome-ignore lint/correctness/noComponentHookFactories: called once per component, at module level
  return function LazyComponent(props: Props): ReactNode {
    const live = useLive()
    const [Component, setComponent] = useState(() => loaded)
    const [failed, setFailed] = useState(false)
    // biome-ignore lint/correctness/useExhaustiveDependencies: retry when `live` changes
    useEffect(() => {
      if (Component) return
      let cancelled = false
      load().then(
        component => cancelled || setComponent(() => component),
        () => cancelled || setFailed(true),
      )
      return () => {
        cancelled = true
      }
    }, [Component, live])
    if (Component) return <Component {...props} />
    if (fallback) return fallback(props)
    return failed ? <LoadError /> : <Skeleton kind="row" />
  }
}

/** Offers to reload the page, because a newer gateway serves files with other names, which this page does not know. */
function LoadError(): ReactNode {
  return (
    <div className="page" role="alert">
      <p>This part of the page couldn’t be loaded. Holdpoint will try again when the gateway is back.</p>
      <button type="button" className="button" onClick={() => location.reload()}>
        Reload the page
      </button>
    </div>
  )
}
