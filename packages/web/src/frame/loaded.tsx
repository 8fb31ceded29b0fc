/** A part of the page that is fetched when it is first needed: until then nothing stands in its place. */
// biome-ignore lint/correctness/noUnresolvedImports: the linter does not see it in the types of react; the compiler does
import { type ReactNode, Suspense } from 'react'

export function Loaded({ children }: { readonly children: ReactNode }): ReactNode {
  return <Suspense fallback={null}>{children}</Suspense>
}
