/** The parts of a card about questions that people ask back. They are loaded on demand. */
import { lazyComponent } from '../../ui/lazy-component.tsx'

export const AskBackPanel = lazyComponent(
  async () => (await import('./ask-back-panel.tsx')).AskBackPanel,
  () => null,
)
export const FollowedRequest = lazyComponent(
  async () => (await import('./followed-request.tsx')).FollowedRequest,
  () => null,
)
