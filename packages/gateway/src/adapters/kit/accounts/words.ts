// The texts of signing in and of a person's own account: English in the console, all languages in the portal.
import type en from '../../../../locales/console/en.json'

export type AccountWords = typeof en
