// The one reader of JSON text that comes from outside. It is stricter than JSON.parse where parsers disagree or
// values get lost: repeated keys, lone surrogates, keys that reach for prototypes, deep nesting and numbers that
// a double does not hold. Measured in docs/decisions/0003-strict-json-and-schemas.md.
import { maxJsonDepth, maxNumberDigits } from './limits.ts'

/** A number whose value a double may not hold as written, kept as its text so that the field it is for refuses it. */
export interface InexactNumber {
  readonly [inexactNumber]: string
}

export type Json = null | boolean | number | string | InexactNumber | readonly Json[] | JsonObject

export interface JsonObject {
  readonly [key: string]: Json
}

export class JsonError extends Error {
  override readonly name = 'JsonError'
}

const inexactNumber = Symbol('inexactNumber')

export function inexactNumberText(value: unknown): string | undefined {
  return typeof value === 'object' && value !== null && inexactNumber in value
    ? (value as InexactNumber)[inexactNumber]
    : undefined
}

/** Members whose value is null are left out: to say "nothing" in either way is the same. */
export function readJson(text: string): Json {
  const cursor: Cursor = { text, at: 0 }
  const value = readValue(cursor, 0)
  skipSpace(cursor)
  if (cursor.at !== text.length) throw unexpected(cursor)
  return value
}

interface Cursor {
  readonly text: string
  at: number
}

const quote = 0x22
const backslash = 0x5c
/** Merging an object with one of these would change its prototype. */
const forbiddenKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])
const numberText = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const exponent = /[eE]/
const maxNumberLength = 40
const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

function readValue(cursor: Cursor, depth: number): Json {
  skipSpace(cursor)
  const code = cursor.text.charCodeAt(cursor.at)
  if (code === quote) return readString(cursor)
  if (code === 0x7b) return readObject(cursor, depth + 1)
  if (code === 0x5b) return readArray(cursor, depth + 1)
  if (code === 0x2d || (code >= 0x30 && code <= 0x39)) return readNumber(cursor)
  if (readWord(cursor, 'true')) return true
  if (readWord(cursor, 'false')) return false
  if (readWord(cursor, 'null')) return null
  throw unexpected(cursor)
}

function readObject(cursor: Cursor, depth: number): JsonObject {
  refuseDepth(depth)
  const object: Record<string, Json> = {}
  let nullKeys: string[] | undefined
  cursor.at++
  skipSpace(cursor)
  if (readMark(cursor, 0x7d)) return object
  for (;;) {
    skipSpace(cursor)
    if (cursor.text.charCodeAt(cursor.at) !== quote) throw unexpected(cursor)
    const key = readString(cursor)
    // The plain look-up is the quick half: it finds nothing for nearly every key.
    if (object[key] !== undefined || key === 'prototype') refuseKey(object, key)
    skipSpace(cursor)
    if (!readMark(cursor, 0x3a)) throw unexpected(cursor)
    const value = readValue(cursor, depth)
    object[key] = value
    if (value === null) {
      nullKeys ??= []
      nullKeys.push(key)
    }
    skipSpace(cursor)
    if (readMark(cursor, 0x2c)) continue
    if (!readMark(cursor, 0x7d)) throw unexpected(cursor)
    if (nullKeys !== undefined) for (const nullKey of nullKeys) delete object[nullKey]
    return object
  }
}

/** Only keys that look up to something come here; `toString` and its like do so by inheritance and are harmless. */
function refuseKey(object: JsonObject, key: string): void {
  if (Object.hasOwn(object, key)) throw new JsonError(`the key ${show(key)} is there twice`)
  if (forbiddenKeys.has(key)) throw new JsonError(`the key ${show(key)} is not allowed`)
}

function readArray(cursor: Cursor, depth: number): readonly Json[] {
  refuseDepth(depth)
  const array: Json[] = []
  cursor.at++
  skipSpace(cursor)
  if (readMark(cursor, 0x5d)) return array
  for (;;) {
    array.push(readValue(cursor, depth))
    skipSpace(cursor)
    if (readMark(cursor, 0x2c)) continue
    if (!readMark(cursor, 0x5d)) throw unexpected(cursor)
    return array
  }
}

function readString(cursor: Cursor): string {
  const { text } = cursor
  const start = cursor.at + 1
  let isPlain = true
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      cursor.at = at + 1
      const value = text.slice(start, at)
      if (isPlain) return value
      if (!value.isWellFormed()) throw new JsonError('a string holds half of a surrogate pair')
      return value
    }
    if (code === backslash) return readEscapedString(cursor, at)
    if (code < 0x20) {
      cursor.at = at
      throw unexpected(cursor)
    }
    if (code >= 0xd800 && code <= 0xdfff) isPlain = false
  }
  throw new JsonError('the text ends inside a string')
}

/** The slow path, from the first backslash on. */
function readEscapedString(cursor: Cursor, firstBackslash: number): string {
  const { text } = cursor
  let value = text.slice(cursor.at + 1, firstBackslash)
  let at = firstBackslash
  for (;;) {
    const code = text.charCodeAt(at)
    if (code === quote) break
    if (Number.isNaN(code)) throw new JsonError('the text ends inside a string')
    if (code < 0x20) {
      cursor.at = at
      throw unexpected(cursor)
    }
    if (code !== backslash) {
      value += text.charAt(at)
      at++
      continue
    }
    const letter = text.charAt(at + 1)
    const escaped = escapes[letter]
    if (escaped !== undefined) {
      value += escaped
      at += 2
      continue
    }
    const hex = text.slice(at + 2, at + 6)
    if (letter !== 'u' || !/^[0-9a-fA-F]{4}$/.test(hex)) {
      cursor.at = at
      throw unexpected(cursor)
    }
    value += String.fromCharCode(Number.parseInt(hex, 16))
    at += 6
  }
  cursor.at = at + 1
  if (!value.isWellFormed()) throw new JsonError('a string holds half of a surrogate pair')
  return value
}

function readNumber(cursor: Cursor): number | InexactNumber {
  numberText.lastIndex = cursor.at
  const written = numberText.exec(cursor.text)?.[0]
  if (written === undefined) throw unexpected(cursor)
  cursor.at += written.length
  return isKeptExactly(written) ? Number(written) : { [inexactNumber]: written }
}

/** 15 digits are what a double keeps whatever they are, far from where it overflows or vanishes. */
function isKeptExactly(written: string): boolean {
  if (exponent.test(written)) return false
  if (written.length <= maxNumberDigits) return true
  if (written.length > maxNumberLength) return false
  const digits = written.replace('-', '').replace('.', '').replace(/^0+/, '').replace(/0+$/, '')
  return digits.length <= maxNumberDigits
}

function readWord(cursor: Cursor, word: string): boolean {
  if (!cursor.text.startsWith(word, cursor.at)) return false
  cursor.at += word.length
  return true
}

function readMark(cursor: Cursor, mark: number): boolean {
  if (cursor.text.charCodeAt(cursor.at) !== mark) return false
  cursor.at++
  return true
}

function skipSpace(cursor: Cursor): void {
  for (;;) {
    const code = cursor.text.charCodeAt(cursor.at)
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
    cursor.at++
  }
}

function refuseDepth(depth: number): void {
  if (depth > maxJsonDepth)
    throw new JsonError(`objects and arrays are nested more than ${maxJsonDepth} deep`)
}

function unexpected(cursor: Cursor): JsonError {
  if (cursor.at >= cursor.text.length) return new JsonError('the text ends too early')
  return new JsonError(`unexpected ${show(cursor.text.charAt(cursor.at))} at position ${cursor.at}`)
}

function show(text: string): string {
  return JSON.stringify(text.length <= 40 ? text : `${text.slice(0, 40)}…`)
}
