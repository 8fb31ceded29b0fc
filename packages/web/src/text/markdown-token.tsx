/** Renders each kind of Markdown token. HTML, link definitions, and invalid or unsafe links are shown as source. */
import { childTokens, displayText, hidesCells, linkTarget } from '@holdpoint/client'
import type { MarkedToken, Tokens } from 'marked'
import type { ReactNode } from 'react'
import { CopyButton } from '../ui/copy-button.tsx'
import { DisplayText, ExactText, InlineAgentText } from './agent-text.tsx'
import { Code } from './code.tsx'
import { ProseText } from './prose.tsx'

/** Maximum depth of nested markup. More deeply nested markup is shown as source. */
const depthMax = 24

interface TokenProps<T> {
  readonly token: T
  readonly depth: number
  /** True while this token is still streaming. Code is not highlighted then, because the colors would flicker. */
  readonly isGrowing: boolean
}

export function MarkdownTokens({
  tokens,
  depth,
  isGrowing,
}: Omit<TokenProps<never>, 'token'> & { readonly tokens: readonly MarkedToken[] }): ReactNode {
  return tokens.map((token, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no other key, and only the last one grows
    <MarkdownToken key={i} token={token} depth={depth} isGrowing={isGrowing && i === tokens.length - 1} />
  ))
}

export function MarkdownToken({ token, depth, isGrowing }: TokenProps<MarkedToken>): ReactNode {
  if (depth > depthMax) return <MarkdownSource text={token.raw} />
  const children = <MarkdownTokens tokens={childTokens(token)} depth={depth + 1} isGrowing={isGrowing} />
  switch (token.type) {
    case 'space':
      return null
    case 'paragraph':
      return <p dir="auto">{children}</p>
    case 'heading':
      return <Heading level={token.depth}>{children}</Heading>
    case 'blockquote':
      return <blockquote dir="auto">{children}</blockquote>
    case 'hr':
      return <hr />
    case 'br':
      return <br />
    case 'strong':
      return <strong>{children}</strong>
    case 'em':
      return <em>{children}</em>
    case 'del':
      return <del>{children}</del>
    case 'codespan':
      return (
        <code className="code-span stored-order" dir="ltr">
          <DisplayText text={displayText(token.text)} code="code" />
        </code>
      )
    case 'code':
      return <CodeBlock text={token.text} info={token.lang ?? ''} growing={isGrowing} />
    case 'list':
      return <List token={token} depth={depth} isGrowing={isGrowing} />
    case 'list_item':
      return children
    case 'checkbox':
      return <span className="box">{token.checked ? '☑ ' : '☐ '}</span>
    case 'table':
      return hidesCells(token) ? (
        <MarkdownSource text={token.raw} />
      ) : (
        <Table token={token} depth={depth} isGrowing={isGrowing} />
      )
    case 'link':
      return <Link {...token}>{children}</Link>
    case 'image':
      return (
        <Link {...token}>
          ▨ <InlineAgentText text={token.text || 'image'} />
        </Link>
      )
    case 'html':
    case 'def':
      return <MarkdownSource text={token.raw} />
    case 'text':
    case 'escape':
      if ('tokens' in token && token.tokens) return children
      return <ProseText text={displayText(token.text, { multiline: true, keepEmoji: true })} />
  }
}

function MarkdownSource({ text }: { readonly text: string }): ReactNode {
  return (
    <span className="source-text stored-order" dir="ltr">
      <DisplayText text={displayText(text, { multiline: true })} code="code" />
    </span>
  )
}

/** Renders headings from h3 on, because the page itself uses h1 and h2. */
function Heading({ level, children }: { readonly level: number; readonly children: ReactNode }): ReactNode {
  const Tag = (['h3', 'h4', 'h5', 'h6'] as const)[Math.min(level, 4) - 1] ?? 'h6'
  return (
    <Tag className={`level-${level}`} dir="auto">
      {children}
    </Tag>
  )
}

function List({ token, depth, isGrowing }: TokenProps<Tokens.List>): ReactNode {
  const items = token.items.map((item, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: items have no other key, and only the last one grows
    <li key={i} className={item.task ? 'task' : undefined} dir="auto">
      <MarkdownToken token={item} depth={depth} isGrowing={isGrowing && i === token.items.length - 1} />
    </li>
  ))
  return token.ordered ? (
    <ol start={Number(token.start) || 0} dir="auto">
      {items}
    </ol>
  ) : (
    <ul dir="auto">{items}</ul>
  )
}

function Table({ token, depth, isGrowing }: TokenProps<Tokens.Table>): ReactNode {
  const cells = (row: readonly Tokens.TableCell[], Tag: 'th' | 'td') =>
    row.map((cell, i) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: a cell has no other key
      <Tag key={i} className={cell.align ? `align-${cell.align}` : undefined} dir="auto">
        <MarkdownTokens tokens={cell.tokens as MarkedToken[]} depth={depth + 1} isGrowing={isGrowing} />
      </Tag>
    ))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section className="table" tabIndex={0} aria-label="Table">
      <table>
        <thead>
          <tr>{cells(token.header, 'th')}</tr>
        </thead>
        <tbody>
          {token.rows.map((row, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a row has no other key
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

/** Shows the host after the link text, unless the text is the URL or the host itself, so that the link text cannot mislead the person. */
function Link({ href, text, title, raw, children }: LinkProps): ReactNode {
  const target = linkTarget(href)
  if (!target) return <MarkdownSource text={raw} />
  // A host with look-alike letters is shown once more, as the name that the browser opens.
  const showsAddress = text === target.host || (text === href && href.includes(target.host))
  return (
    <>
      <a href={target.href} target="_blank" rel="noopener noreferrer">
        {children}
      </a>
      {!showsAddress && (
        <span className="link-host">
          {' '}
          (<ExactText text={target.host} />)
        </span>
      )}
      {title && (
        <span className="link-host">
          {' '}
          “<InlineAgentText text={title} />”
        </span>
      )}
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
        <ExactText text={info} className="code-info" />
        <CopyButton text={text} />
      </figcaption>
      <Code text={text} lang={growing || !lang ? undefined : lang.toLowerCase()} hideWarning />
    </figure>
  )
}
