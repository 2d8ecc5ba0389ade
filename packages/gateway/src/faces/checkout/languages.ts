// The languages of the checkout and the choice among them: what the link asks for, what was chosen before, what the
// browser prefers, and English where none of it fits.
import { remember } from '../../platform/remember.ts'
import { type Formats, makeFormats } from './formats.ts'
import { ar } from './languages/ar.ts'
import { de } from './languages/de.ts'
import { en } from './languages/en.ts'
import { es } from './languages/es.ts'
import { fr } from './languages/fr.ts'
import { ja } from './languages/ja.ts'
import { pt } from './languages/pt.ts'
import { zh } from './languages/zh.ts'
import type { Words } from './words.ts'

export interface Language {
  readonly tag: LanguageTag
  /** In the language itself, for the switch. */
  readonly name: string
  readonly direction: 'ltr' | 'rtl'
  readonly words: Words
  readonly formats: Formats
}

const table = {
  en: { name: 'English', direction: 'ltr', words: en },
  zh: { name: '简体中文', direction: 'ltr', words: zh },
  ja: { name: '日本語', direction: 'ltr', words: ja },
  es: { name: 'Español', direction: 'ltr', words: es },
  fr: { name: 'Français', direction: 'ltr', words: fr },
  de: { name: 'Deutsch', direction: 'ltr', words: de },
  pt: { name: 'Português', direction: 'ltr', words: pt },
  ar: { name: 'العربية', direction: 'rtl', words: ar },
} as const satisfies Record<string, Pick<Language, 'name' | 'direction' | 'words'>>

export type LanguageTag = keyof typeof table

export const languages: readonly Language[] = (Object.keys(table) as LanguageTag[]).map((tag) => {
  // Made for the first reader of each: all of them would be a good part of a start.
  let formats: Formats | undefined
  return {
    tag,
    ...table[tag],
    get formats() {
      formats ??= makeFormats(tag)
      return formats
    },
  }
})

export function isLanguageTag(tag: unknown): tag is LanguageTag {
  return typeof tag === 'string' && Object.hasOwn(table, tag)
}

export function chooseLanguage(wishes: {
  readonly asked: unknown
  readonly chosenBefore: string | undefined
  readonly acceptLanguage: string | undefined
}): Language {
  const tag =
    [wishes.asked, wishes.chosenBefore].find(isLanguageTag) ??
    preferred(wishes.acceptLanguage ?? '').find(isLanguageTag) ??
    'en'
  const found = languages.find((language) => language.tag === tag)
  if (!found) throw new Error('every tag has its language')
  return found
}

/** Nobody prefers more languages than this; a header that says so is not read to its end. */
const maxPreferences = 20
/** Nearly everybody sends one of a few. */
const headersRemembered = 100

/** The primary tags of an Accept-Language header (RFC 9110, 12.5.4), the best liked first, without the refused. */
const preferred = remember(
  (header: string): string[] =>
    header
      .split(',', maxPreferences)
      .map((entry) => {
        const [range = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase())
        const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
        return { tag: range.split('-')[0] ?? '', quality: quality === undefined ? 1 : Number(quality) }
      })
      .filter(({ quality }) => quality > 0)
      .sort((a, b) => b.quality - a.quality)
      .map(({ tag }) => tag),
  { keyOf: (header) => header, most: headersRemembered },
)
