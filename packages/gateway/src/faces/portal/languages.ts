// The portal in its languages, and the choice among them.
import {
  chooseLanguageTag,
  type LanguageTag,
  languagesWith,
  type SpokenLanguage,
} from '../../http/languages/languages.ts'
import { en } from './languages/en.ts'
import type { Words } from './words.ts'

export type Language = SpokenLanguage<Words>

const words: Record<LanguageTag, Words> = { en, zh: en, ja: en, es: en, fr: en, de: en, pt: en, ar: en }

export const languages: readonly Language[] = languagesWith(words)

export function chooseLanguage(wishes: Parameters<typeof chooseLanguageTag>[0]): Language {
  const tag = chooseLanguageTag(wishes)
  const found = languages.find((language) => language.tag === tag)
  if (!found) throw new Error('every tag has its language')
  return found
}
