/** The schemas of risk: what an action touches, as Holdpoint derives it. The agent's own description does not count. */
import { z } from 'zod'

export const Touch = z
  .enum([
    'deletes',
    'writes-outside',
    'network',
    'installs',
    'project-code',
    'rewrites-history',
    'secrets',
    'publishes',
    'privileges',
    'settings',
    'unreadable',
  ])
  .describe(
    'Something that an action touches. "deletes": it deletes files. "writes-outside": it writes outside of the session’s folder. "network": it uses the network. "installs": it installs packages. "project-code": it runs code of the project. "rewrites-history": it changes or discards version history. "secrets": it reads or writes credentials. "publishes": it publishes or deploys. "privileges": it changes users, permissions or processes. "settings": it writes settings or scripts that other programs run. "unreadable": Holdpoint cannot tell what it does.',
  )
export type Touch = z.infer<typeof Touch>

export const RiskLevel = z
  .enum(['low', 'notable', 'dangerous'])
  .describe('How dangerous an action can be. Clients need more than one key press to allow a dangerous one.')
export type RiskLevel = z.infer<typeof RiskLevel>

export const Risk = z
  .object({ level: RiskLevel, touches: z.array(Touch).describe('What the action touches.') })
  .describe('What an action touches and how dangerous it can be.')
export type Risk = z.infer<typeof Risk>
