// The portal's texts in any language.
import type en from '../../../locales/portal/en.json'

export type Words = typeof en
export type ActionName = keyof Words['acts']
export type FieldName = keyof Words['fields']
