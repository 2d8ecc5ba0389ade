// Texts of pages that differ with a number.

/** By the categories of Intl.PluralRules; `other` is always there. */
export interface Plural {
  readonly zero?: string
  readonly one?: string
  readonly two?: string
  readonly few?: string
  readonly many?: string
  readonly other: string
}

export function plural(forms: Plural): Plural {
  return forms
}
