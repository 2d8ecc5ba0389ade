// Texts with plural forms in ICU's syntax, which translators know: "{count, plural, one {{count} item} other {{count}
// items}}".
import { remember } from '../../../platform/runtime/remember.ts'

/** By the categories of Intl.PluralRules; `other` always exists. */
export type PluralForms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & Record<'other', string>>

const form = String.raw`(zero|one|two|few|many|other) \{((?:[^{}]|\{count\})*)\}`
const plural = new RegExp(String.raw`^\{count, plural,((?: ${form})+)\}$`)
const eachForm = new RegExp(form, 'g')

/** Only a few texts of a language are plurals. */
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
