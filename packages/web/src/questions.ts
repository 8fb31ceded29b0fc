/** Which of these? All questions of a request on one card, answered together; a question may be left out. */
import type { Question, QuestionAnswer, QuestionsAsk } from '@holdpoint/protocol'
import { code, prose, words } from './agent-text.ts'
import type { CardHands } from './card.ts'
import { el, setText } from './dom.ts'

interface Asked {
  readonly root: HTMLElement
  /** Null while it is not answered. */
  answer(): QuestionAnswer | null
}

export function questionsParts(id: string, ask: QuestionsAsk, hands: CardHands) {
  const all = ask.questions.map(question => askOne(`${id}/${question.id}`, question))
  const given = () => all.map(one => one.answer()).filter(answer => answer !== null)
  const send = hands.button('Send answers', 'primary', () => hands.send(send, { kind: 'answers', answers: given() }))
  const decline = hands.button('Decline', 'apart', () => hands.send(decline, { kind: 'decline' }))
  const count = () => {
    const done = given().length
    send.classList.toggle('notyet', done === 0)
    setText(send, done === 0 || done === all.length ? 'Send answers' : `Send ${done} of ${all.length} answers`)
    hands.refresh()
  }
  const title = all.length === 1 ? 'Asks a question' : `Asks ${all.length} questions`
  const body = el('div.body', { oninput: count }, el('p.what', {}, title), ...all.map(one => one.root))
  count()
  return { body, foot: el('div.actions', {}, send, decline) }
}

function askOne(name: string, question: Question): Asked {
  const { options, multiSelect, allowOther, secret } = question
  const type = multiSelect ? 'checkbox' : 'radio'
  const boxes = options.map(({ label }) => el('input', { type, name, value: label }))
  const rows = options.map(({ label, description, preview }, i) =>
    el(
      'label.option',
      {},
      boxes[i] ?? null,
      el(
        'span',
        {},
        words(label),
        description !== undefined && prose(description),
        preview !== undefined && code(preview),
      ),
    ),
  )
  const other = secret
    ? el('input', { type: 'password', autocomplete: 'off' })
    : options.length === 0
      ? el('textarea', { rows: 2 })
      : el('input', { type: 'text' })
  const own = el('input', { type, name, value: '' })
  // Writing chooses; for a single choice that also takes the choice back from the options.
  other.addEventListener('input', () => {
    own.checked = other.value !== ''
  })
  own.onchange = () => own.checked && other.focus()
  const label = options.length > 0 ? 'Other' : secret ? 'Your answer (kept secret)' : 'Your answer'
  const otherRow = el('div.option', {}, options.length > 0 && own, el('label.field', {}, label, other))
  const legend = el(
    'legend',
    {},
    question.header !== '' && words(question.header),
    multiSelect && el('span.hint', {}, ' choose any'),
  )
  return {
    root: el('fieldset', {}, legend, prose(question.question), ...rows, allowOther && otherRow),
    answer() {
      const chosen = boxes.filter(box => box.checked).map(box => box.value)
      const said = allowOther && other.value !== '' && (own.checked || options.length === 0)
      if (chosen.length === 0 && !said) return null
      return { id: question.id, chosen, ...(said && { other: other.value }) }
    },
  }
}
