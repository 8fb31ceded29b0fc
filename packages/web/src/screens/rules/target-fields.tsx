/** The fields of the rule form that say what happens and to which calls. */
import { commandGroups, type Rule, type RuleEffect } from '@holdpoint/protocol'
import { type ReactNode, useId } from 'react'
import { ruleTexts } from '../../request/rule/texts.ts'
import { Field } from '../../ui/field.tsx'
import { CodeField } from './code-field.tsx'
import { type Access, accessOf, type RuleForm, type TargetKind, targetKinds } from './rule-form.ts'
import { ruleFormTexts } from './texts.ts'

export interface RuleFieldsProps {
  readonly form: RuleForm
  readonly edited: Rule | null
  readonly onChange: (change: Partial<RuleForm>) => void
}

interface TargetFieldsProps extends RuleFieldsProps {
  /** The effects that the person may choose. */
  readonly effects: readonly RuleEffect[]
}

export function TargetFields({ form, edited, effects, onChange }: TargetFieldsProps): ReactNode {
  const name = useId()
  const kinds = targetKinds(form.effect, edited)
  return (
    <>
      <fieldset className="choices inline">
        <legend className="soft small">{ruleFormTexts.effect}</legend>
        {effects.map(effect => (
          <label key={effect} className="choice">
            <input
              type="radio"
              name={name}
              data-first={effect === form.effect || undefined}
              checked={form.effect === effect}
              onChange={() =>
                onChange({ effect, ...(form.kind === 'group' && effect !== 'allow' && { kind: 'command' }) })
              }
            />
            <span className="choice-text">{ruleFormTexts.effects[effect]}</span>
          </label>
        ))}
      </fieldset>
      <Select
        label={ruleFormTexts.target}
        value={form.kind}
        options={kinds.map(kind => ({ value: kind, name: ruleFormTexts.targets[kind] }))}
        onChange={kind => onChange({ kind })}
      />
      <Target kind={form.kind} form={form} onChange={onChange} />
    </>
  )
}

type TargetProps = Omit<RuleFieldsProps, 'edited'> & { readonly kind: TargetKind }

function Target({ kind, form, onChange }: TargetProps): ReactNode {
  switch (kind) {
    case 'command':
      return <CommandFields form={form} onChange={onChange} />
    case 'group':
      return (
        <>
          <Select
            label={ruleFormTexts.group}
            value={form.group}
            options={commandGroups.map(group => ({ value: group, name: ruleTexts.groups[group].name }))}
            onChange={group => onChange({ group })}
          />
          <p className="soft small">{ruleTexts.groups[form.group].about}</p>
        </>
      )
    case 'path':
      return <PathFields form={form} onChange={onChange} />
    case 'host':
      return (
        <CodeField
          label={ruleFormTexts.host}
          hint={ruleFormTexts.hostHint}
          value={form.host}
          onChange={host => onChange({ host })}
        />
      )
    case 'mcp':
      return (
        <div className="rule-form-pair">
          <CodeField label={ruleFormTexts.server} value={form.server} onChange={server => onChange({ server })} />
          <CodeField label={ruleFormTexts.tool} value={form.tool} onChange={tool => onChange({ tool })} />
        </div>
      )
    case 'other':
      return null
  }
}

type FieldsProps = Omit<RuleFieldsProps, 'edited'>

function CommandFields({ form, onChange }: FieldsProps): ReactNode {
  const { effect, command, harmlessArguments } = form
  const hint = effect !== 'allow' ? 'restricting' : harmlessArguments ? 'grammar' : 'exact'
  return (
    <>
      <CodeField
        label={ruleFormTexts.command}
        hint={ruleFormTexts.commandHints[hint]}
        value={command}
        onChange={text => onChange({ command: text })}
      />
      {effect === 'allow' && (
        <label className="rule-form-check small">
          <input
            type="checkbox"
            checked={harmlessArguments}
            onChange={event => onChange({ harmlessArguments: event.target.checked })}
          />
          {ruleFormTexts.harmlessArguments}
        </label>
      )}
    </>
  )
}

function PathFields({ form, onChange }: FieldsProps): ReactNode {
  const accesses: readonly Access[] = form.effect === 'allow' ? ['read', 'write'] : ['any', 'read', 'write']
  return (
    <div className="rule-form-pair">
      <CodeField
        label={ruleFormTexts.path}
        hint={ruleFormTexts.pathHint}
        value={form.path}
        onChange={path => onChange({ path })}
      />
      <Select
        label={ruleFormTexts.access}
        value={accessOf(form)}
        options={accesses.map(access => ({ value: access, name: ruleFormTexts.accesses[access] }))}
        onChange={access => onChange({ access })}
      />
    </div>
  )
}

interface SelectProps<T extends string> {
  readonly label: string
  readonly value: T
  readonly options: readonly { readonly value: T; readonly name: string }[]
  readonly onChange: (value: T) => void
}

export function Select<T extends string>({ label, value, options, onChange }: SelectProps<T>): ReactNode {
  return (
    <Field label={label}>
      {ids => (
        <select
          {...ids}
          className="input"
          value={value}
          onChange={({ target }) => {
            const chosen = options.find(option => option.value === target.value)
            if (chosen) onChange(chosen.value)
          }}
        >
          {options.map(option => (
            <option key={option.value} value={option.value}>
              {option.name}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
