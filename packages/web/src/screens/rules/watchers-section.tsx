/** The watchers that are in force, on the Rules screen. They come from files, so nothing can be changed here. */
import { watcherLabel } from '@holdpoint/client'
import type { Event, Watcher } from '@holdpoint/protocol'
import { type ReactNode, useCallback } from 'react'
import { useGateway } from '../../gateway/gateway-context.ts'
import { useReloaded } from '../../gateway/use-reloaded.ts'
import { InlineAgentText } from '../../text/agent-text.tsx'
import { Path } from '../../text/path.tsx'
import { watcherTexts as texts } from './texts.ts'
import './watchers-section.css'

export function WatchersSection(): ReactNode {
  const { call } = useGateway()
  const load = useCallback(async (signal: AbortSignal) => (await call('listWatchers', {}, { signal })).items, [call])
  const { value: watchers } = useReloaded(load, changesFiles)
  if (watchers === null) return null
  return (
    <section className="rules-section" aria-label={texts.title}>
      <h2 className="section-heading">{texts.title}</h2>
      <p className="soft small">{texts.introduction}</p>
      {watchers.length === 0 ? (
        <p className="soft small">
          {texts.none} <code>{texts.turnOn}</code>
        </p>
      ) : (
        <ul className="watchers">
          {watchers.map(watcher => (
            <WatcherRow key={`${watcher.source.file} ${watcher.version} ${watcher.name}`} watcher={watcher} />
          ))}
        </ul>
      )}
    </section>
  )
}

/** Rules and watchers come from the same files. */
function changesFiles({ type }: Event): boolean {
  return type === 'rule.added' || type === 'rule.changed' || type === 'rule.removed'
}

function WatcherRow({ watcher }: { readonly watcher: Watcher }): ReactNode {
  const { name, when, note, source } = watcher
  return (
    <li className="watcher-row">
      <p>
        <span className="mono strong">{name}</span> <span className="soft">{watcherLabel(watcher)}</span>
      </p>
      {when !== undefined && (
        <p className="small">
          {texts.when} <InlineAgentText text={when} className="mono" />
        </p>
      )}
      {note !== undefined && (
        <p className="small soft">
          <InlineAgentText text={note} />
        </p>
      )}
      <p className="small faint">
        <Path path={source.file} className="mono" />
        {!source.trusted && ` ${texts.notTrusted}`}
      </p>
    </li>
  )
}
