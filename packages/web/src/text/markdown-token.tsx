/** Each kind of markup as elements. What is no safe link, no text and no layout is shown as it is written. */
import { displayText } from '@holdpoint/client'
import { escapeInvisible } from '@holdpoint/protocol'
import type { MarkedToken, Tokens } from 'marked'
import type { ReactNode } from 'react'
import { CopyButton } from '../ui/copy-button.tsx'
import { DisplayText, InlineAgentText } from './agent-text.tsx'
import { Code } from './code.tsx'
import { dropsCells, inside, targetOf } from './markdown-blocks.ts'

/** Deeper than this nobody follows: the rest is shown as it is written. */
const depthMax = 24

interface TokenProps<T> {
  readonly token: T
  readonly depth: number
  /** Still being written: colours would flicker. */
  readonly growing: boolean
}

export function MarkdownTokens({
  tokens,
  depth,
  growing,
}: Omit<TokenProps<never>, 'token'> & { readonly tokens: readonly MarkedToken[] }): ReactNode {
  return tokens.map((token, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text have no other name, and only the last one grows
    <MarkdownToken key={i} token={token} depth={depth} growing={growing && i === tokens.length - 1} />
  ))
}

export function MarkdownToken({ token, depth, growing }: TokenProps<MarkedToken>): ReactNode {
  if (depth > depthMax) return <AsWritten text={token.raw} />
  const within = <MarkdownTokens tokens={inside(token)} depth={depth + 1} growing={growing} />
  switch (token.type) {
    case 'space':
      return null
    case 'paragraph':
      return <p>{within}</p>
    case 'heading':
      return <Heading level={token.depth}>{within}</Heading>
    case 'blockquote':
      return <blockquote>{within}</blockquote>
    case 'hr':
      return <hr />
    case 'br':
      return <br />
    case 'strong':
      return <strong>{within}</strong>
    case 'em':
      return <em>{within}</em>
    case 'del':
      return <del>{within}</del>
    case 'codespan':
      return (
        <code className="code-span">
          <DisplayText text={displayText(token.text)} />
        </code>
      )
    case 'code':
      return <CodeBlock text={token.text} info={token.lang ?? ''} growing={growing} />
    case 'list':
      return <List token={token} depth={depth} growing={growing} />
    case 'list_item':
      return within
    case 'checkbox':
      return <span className="box">{token.checked ? '☑ ' : '☐ '}</span>
    case 'table':
      return dropsCells(token) ? (
        <AsWritten text={token.raw} />
      ) : (
        <Table token={token} depth={depth} growing={growing} />
      )
    case 'link':
      return <Link {...token}>{within}</Link>
    case 'image':
      return <Link {...token}>{`▨ ${escapeInvisible(token.text || 'image')}`}</Link>
    case 'html':
    case 'def':
      return <AsWritten text={token.raw} />
    case 'text':
    case 'escape':
      if ('tokens' in token && token.tokens) return within
      return <DisplayText text={displayText(token.text, { multiline: true, keepEmoji: true })} />
  }
}

function AsWritten({ text }: { readonly text: string }): ReactNode {
  return (
    <span className="source-text">
      <DisplayText text={displayText(text, { multiline: true })} />
    </span>
  )
}

/** Under the headings of the page, which are ours. */
function Heading({ level, children }: { readonly level: number; readonly children: ReactNode }): ReactNode {
  const Tag = (['h3', 'h4', 'h5', 'h6'] as const)[Math.min(level, 4) - 1] ?? 'h6'
  return <Tag className={`level-${level}`}>{children}</Tag>
}

function List({ token, depth, growing }: TokenProps<Tokens.List>): ReactNode {
  const items = token.items.map((item, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: items of one text have no other name, and only the last one grows
    <li key={i} className={item.task ? 'task' : undefined}>
      <MarkdownToken token={item} depth={depth} growing={growing && i === token.items.length - 1} />
    </li>
  ))
  return token.ordered ? <ol start={Number(token.start) || 0}>{items}</ol> : <ul>{items}</ul>
}

function Table({ token, depth, growing }: TokenProps<Tokens.Table>): ReactNode {
  const cells = (row: readonly Tokens.TableCell[], Tag: 'th' | 'td') =>
    row.map((cell, i) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its place
      <Tag key={i} className={cell.align ? `align-${cell.align}` : undefined}>
        <MarkdownTokens tokens={cell.tokens as MarkedToken[]} depth={depth + 1} growing={growing} />
      </Tag>
    ))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className="table" tabIndex={0} aria-label="Table">
      <table>
        <thead>
          <tr>{cells(token.header, 'th')}</tr>
        </thead>
        <tbody>
          {token.rows.map((row, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place
            <tr key={i}>{cells(row, 'td')}</tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

interface LinkProps {
  readonly href: string
  readonly text: string
  readonly title?: string | null
  readonly raw: string
  readonly children: ReactNode
}

/** The host stands behind the words unless the words are the address: nobody is led elsewhere than they read. */
function Link({ href, text, title, raw, children }: LinkProps): ReactNode {
  const target = targetOf(href)
  if (!target) return <AsWritten text={raw} />
  const plain = text === href || text === target.host
  return (
    <>
      <a href={target.href} target="_blank" rel="noopener noreferrer">
        {children}
      </a>
      {!plain && <span className="link-host"> ({escapeInvisible(target.host)})</span>}
      {title && <span className="link-host"> “{escapeInvisible(title)}”</span>}
    </>
  )
}

function CodeBlock({
  text,
  info,
  growing,
}: {
  readonly text: string
  readonly info: string
  readonly growing: boolean
}): ReactNode {
  const [lang] = info.trim().split(/\s+/)
  return (
    <figure className="code-figure">
      <figcaption>
        <InlineAgentText text={info} className="code-info" />
        <CopyButton text={text} />
      </figcaption>
      <Code text={text} lang={growing || !lang ? undefined : lang.toLowerCase()} warned />
    </figure>
  )
}
