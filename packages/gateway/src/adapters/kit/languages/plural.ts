// Texts that differ with a number, in the form that ICU gave them and translators know:
// "{count, plural, one {{count} item} other {{count} items}}".
import { remember } from '../../../platform/runtime/remember.ts'

/** By the categories of Intl.PluralRules; `other` is always there. */
export type PluralForms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & Record<'other', string>>

const form = String.raw`(zero|one|two|few|many|other) \{((?:[^{}]|\{count\})*)\}`
const plural = new RegExp(String.raw`^\{count, plural,((?: ${form})+)\}$`)
const eachForm = new RegExp(form, 'g')

/** Of a language's own texts only a few are plurals. */
export const pluralForms = remember(
  (message: string): PluralForms => {
    const [, forms = ''] = plural.exec(message) ?? []
    const { other, ...others } = Object.fromEntries(
      [...forms.matchAll(eachForm)].map(([, category, text]) => [category, text]),
    )
    if (other === undefined) throw new Error(`"${message}" is no plural with a form for "other"`)
    return { ...others, other }
  },
  { keyOf: (message) => message, most: 100 },
)
