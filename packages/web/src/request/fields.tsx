/** Shows the input of a tool as readable fields, with a button to view the raw JSON, and facts in the same form. */
import { exactText } from '@holdpoint/client'
import type { JsonObject, Json as JsonValue } from '@holdpoint/protocol'
import { type ReactNode, useMemo, useState } from 'react'
import { ExactText } from '../text/agent-text.tsx'
import { Code, Json } from '../text/code.tsx'
import { chunksOf, LazyChunks } from '../text/lazy-chunks.tsx'
import { cardTexts } from './texts.ts'
import './fields.css'

const shortMax = 100

export function Fields({ value }: { readonly value: JsonObject }): ReactNode {
  const [raw, setRaw] = useState(false)
  if (Object.keys(value).length === 0) return <p className="soft small">{cardTexts.noInput}</p>
  return (
    <div className="fields">
      {raw ? <Json value={value} /> : <Entries value={value} />}
      <button type="button" className="button plain small raw" aria-pressed={raw} onClick={() => setRaw(!raw)}>
        {raw ? cardTexts.viewFields : cardTexts.viewJson}
      </button>
    </div>
  )
}

export type Fact = readonly [label: string, value: ReactNode]

export interface FactListProps {
  /** Facts without a value are left out. */
  readonly facts: readonly Fact[]
  readonly className: string
}

/** Shows facts about something, each with a label of our own. */
export function FactList({ facts, className }: FactListProps): ReactNode {
  return (
    <dl className={`field-list ${className}`}>
      {facts
        .filter(([, value]) => Boolean(value))
        .map(([label, value]) => (
          <div key={label} className="field-row">
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}

const chunkSize = { rowsMax: 40, charsMax: 8000 } as const

export function Entries({ value }: { readonly value: JsonObject }): ReactNode {
  const chunks = useMemo(() => chunksOf(Object.entries(value), entryLength, chunkSize), [value])
  return (
    <LazyChunks chunks={chunks} linesOf={chunk => 2 * chunk.length} textOf={entriesText}>
      {chunk => (
        <dl className="field-list">
          {chunk.map(([name, item]) => (
            <div key={name} className={isShort(item) ? 'field-row' : 'field-row stacked'}>
              <dt>
                <ExactText text={name} />
              </dt>
              <dd>
                <Value value={item} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </LazyChunks>
  )
}

type Entry = readonly [name: string, value: JsonValue]

function entriesText(entries: readonly Entry[]): string {
  return entries.map(([name, item]) => exactText(`${name} ${jsonOf(item)}`)).join('\n')
}

/** Longer values are drawn in chunks of their own. */
const valueMax = 16_000

function entryLength([name, item]: Entry): number {
  return name.length + Math.min(valueMax, jsonOf(item).length)
}

function jsonOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Returns the names and the short values of fields, one per line, to find unusual characters in them. Long values have warnings of their own. */
export function shortTexts(value: JsonObject): string {
  return Object.entries(value)
    .flatMap(([name, item]) => [name, ...[item].flat().filter(each => typeof each === 'string' && isShort(each))])
    .join('\n')
}

/** Shows a value. Numbers, booleans and null look different from strings, so that people can tell 12 from "12". */
function Value({ value }: { readonly value: JsonValue }): ReactNode {
  if (typeof value === 'string') {
    if (value === '') return <span className="soft">{cardTexts.empty}</span>
    return isShort(value) ? <ExactText text={value} className="mono agent-background value" /> : <Code text={value} />
  }
  if (isShortList(value)) return <List items={value} />
  if (typeof value === 'object' && value !== null) return <Json value={value} />
  return <ExactText text={String(value)} className="mono agent-background value literal" />
}

/** Shows each item on its own background. Commas would not show where an item ends, because an item may contain commas. */
function List({ items }: { readonly items: readonly JsonValue[] }): ReactNode {
  if (items.length === 0) return <span className="soft">{cardTexts.emptyList}</span>
  return (
    <ul className="value-list">
      {items.map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
        <li key={index}>
          <Value value={item} />
        </li>
      ))}
    </ul>
  )
}

/** Returns true if the value is a list of a few short items that fit on one line. */
function isShortList(value: JsonValue): value is JsonValue[] {
  if (!Array.isArray(value) || value.some(item => typeof item === 'object' && item !== null)) return false
  return value.every(isShort) && value.reduce<number>((sum, item) => sum + String(item).length + 3, 0) <= shortMax
}

function isShort(value: JsonValue): boolean {
  if (isShortList(value)) return true
  if (typeof value === 'string') return value.length <= shortMax && !value.includes('\n')
  return typeof value !== 'object' || value === null
}
