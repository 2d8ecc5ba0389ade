// Colors for code in the documentation: comments, strings, numbers and keywords, by one pattern per language. A wrong
// match changes only the color.
import { type Content, type Html, html } from '../kit/html.ts'

const quoted = String.raw`(?<string>'[^'\n]*'|"(?:[^"\\\n]|\\.)*")`
const number = String.raw`(?<number>\b\d[\d_.]*\b)`

function pattern(...alternatives: readonly string[]): RegExp {
  return new RegExp(alternatives.join('|'), 'gm')
}

function keywords(words: string): string {
  return String.raw`(?<keyword>\b(?:${words.replaceAll(' ', '|')})\b)`
}

const javaScript = pattern(
  String.raw`(?<comment>\/\/.*$)`,
  quoted,
  '(?<template>`[^`]*`)',
  keywords(
    'import export from const let async await function return if else throw new for of class type null undefined true false',
  ),
  number,
)
const cLike = pattern(
  String.raw`(?<comment>\/\/.*$)`,
  quoted,
  keywords('import use package func public static final class new return if else for null nil true false'),
  number,
)
const patterns: Readonly<Record<string, RegExp>> = {
  js: javaScript,
  ts: javaScript,
  sh: pattern(
    String.raw`(?<comment>(?<=^|\s)#.*$)`,
    quoted,
    String.raw`(?<keyword>(?<=^|\s)--[\w-]+|\b[A-Z][A-Z_]+(?==))`,
  ),
  json: pattern(
    String.raw`(?<keyword>"(?:[^"\\\n]|\\.)*"(?=\s*:))`,
    quoted,
    keywords('true false null'),
    number,
  ),
  php: cLike,
  go: cLike,
  java: cLike,
  python: pattern(
    '(?<comment>#.*$)',
    quoted,
    keywords('import from def return if else for in as with None True'),
    number,
  ),
  sql: pattern(
    '(?<comment>--.*$)',
    quoted,
    keywords('select from where and or order by limit as join on'),
    number,
  ),
}

export function highlight(code: string, language: string): Html {
  const parts: Content[] = []
  let from = 0
  for (const match of patterns[language] ? code.matchAll(patterns[language]) : []) {
    const [kind] = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined) ?? []
    parts.push(code.slice(from, match.index), html`<span class="${kind}">${match[0]}</span>`)
    from = match.index + match[0].length
  }
  return html`${[...parts, code.slice(from)]}`
}
