// The checkout's texts in any language.
import type en from '../../../locales/checkout/en.json'

export type Words = typeof en
