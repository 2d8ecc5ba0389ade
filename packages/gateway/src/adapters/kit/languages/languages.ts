// The languages of our pages and their selection: the link's parameter, the earlier choice, the browser's preference,
// then English.
import { remember } from '../../../platform/runtime/remember.ts'
import { type Formats, makeFormats } from './formats.ts'

const table = {
  en: { name: 'English', direction: 'ltr' },
  zh: { name: '简体中文', direction: 'ltr' },
  ja: { name: '日本語', direction: 'ltr' },
  es: { name: 'Español', direction: 'ltr' },
  fr: { name: 'Français', direction: 'ltr' },
  de: { name: 'Deutsch', direction: 'ltr' },
  pt: { name: 'Português', direction: 'ltr' },
  ar: { name: 'العربية', direction: 'rtl' },
} as const

export type LanguageTag = keyof typeof table

export interface SpokenLanguage<Words> {
  readonly tag: LanguageTag
  /** In the language itself, for the switch. */
  readonly name: string
  readonly direction: 'ltr' | 'rtl'
  readonly words: Words
  readonly formats: Formats
}

/** Created for the first reader of each language, because creating all slows down the start. */
const madeFormats = new Map<LanguageTag, Formats>()

function formatsOf(tag: LanguageTag): Formats {
  const formats = madeFormats.get(tag) ?? makeFormats(tag)
  madeFormats.set(tag, formats)
  return formats
}

/** All languages with a page's texts. */
export function languagesWith<Words>(words: Record<LanguageTag, Words>): readonly SpokenLanguage<Words>[] {
  // Safe: these are its own keys.
  return (Object.keys(table) as LanguageTag[]).map((tag) => ({
    tag,
    ...table[tag],
    words: words[tag],
    get formats() {
      return formatsOf(tag)
    },
  }))
}

/** For an adapter that has no other language. */
export function inEnglish<Words>(words: Words): SpokenLanguage<Words> {
  return { tag: 'en', ...table.en, words, formats: formatsOf('en') }
}

export function isLanguageTag(tag: unknown): tag is LanguageTag {
  return typeof tag === 'string' && Object.hasOwn(table, tag)
}

interface Wishes {
  readonly asked: unknown
  readonly chosenBefore: string | undefined
  readonly acceptLanguage: string | undefined
}

export function chooseAmong<Words>(languages: readonly SpokenLanguage<Words>[]) {
  return ({ asked, chosenBefore, acceptLanguage = '' }: Wishes): SpokenLanguage<Words> => {
    const tag = [asked, chosenBefore, ...preferred(acceptLanguage)].find(isLanguageTag) ?? 'en'
    const found = languages.find((language) => language.tag === tag)
    if (!found) throw new Error('every tag has its language')
    return found
  }
}

/** The rest of a longer header is ignored. */
const maxPreferences = 20
/** Most browsers send one of a few values. */
const headersRemembered = 100

/** The primary tags of an Accept-Language header (RFC 9110, 12.5.4) by preference, without rejected ones. */
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
