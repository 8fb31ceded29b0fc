/** The people whose answers the audit log can be filtered by. */
import type { AuditEntry } from '@holdpoint/protocol'
import { useEffect, useState } from 'react'
import { useGateway, useMay } from '../../gateway/gateway-context.ts'

/** Names by the ids of people. */
type People = ReadonlyMap<string, string>
const nobody: People = new Map()

/** Returns the signed-in person, the people with access, whom only the owner can list, and everyone who answered one of the entries so far. */
export function usePeople(entries: readonly AuditEntry[]): People {
  const { call, me, myName } = useGateway()
  const may = useMay()
  const [withAccess, setWithAccess] = useState(nobody)
  const [seen, setSeen] = useState(nobody)
  const mayList = may('listTokens')
  useEffect(() => {
    if (!mayList) return
    const controller = new AbortController()
    call('listTokens', {}, { signal: controller.signal }).then(
      ({ items }) =>
        setWithAccess(new Map(items.flatMap(({ person, name }) => (person === null ? [] : [[person, name]])))),
      () => {}, // without the list, the people of the loaded entries are offered
    )
    return () => controller.abort()
  }, [call, mayList])
  // A filter leaves fewer entries, but nobody disappears from the list.
  const added = peopleOf(entries).filter(([id]) => !seen.has(id))
  if (added.length > 0) setSeen(new Map([...seen, ...added]))
  return new Map([[me, myName], ...withAccess, ...seen])
}

function peopleOf(entries: readonly AuditEntry[]): readonly (readonly [id: string, name: string])[] {
  return entries.flatMap(entry => {
    if (entry.kind !== 'decision' || entry.resolution.personId === undefined) return []
    return [[entry.resolution.personId, entry.resolution.person ?? entry.resolution.personId] as const]
  })
}
