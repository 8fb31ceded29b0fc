/** The panel in which a person asks back, loaded on first use. */
import { lazyComponent } from '../../ui/lazy-component.tsx'

export const LazyAskBackPanel = lazyComponent(
  async () => (await import('./ask-back-panel.tsx')).AskBackPanel,
  () => null,
)
