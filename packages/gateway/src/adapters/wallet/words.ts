// The wallet's texts in any language.
import type en from '../../../locales/wallet/en.json'

export type Words = typeof en
