// The results of the conformance suite as JUnit XML, which every CI reads.
import type { Result } from './suite.ts'

export function junitOf(results: readonly Result[]): string {
  const count = (outcome: Result['outcome']) => results.filter((each) => each.outcome === outcome).length
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuite name="till conform" tests="${results.length}" failures="${count('fail')}" skipped="${count('not testable')}">`,
    ...results.map(({ clause, title, outcome, detail = '' }) => {
      const begin = `  <testcase classname="${clause}" name="${escaped(title)}"`
      if (outcome === 'pass') return `${begin}/>`
      const tag = outcome === 'fail' ? 'failure' : 'skipped'
      return `${begin}><${tag} message="${escaped(detail)}"/></testcase>`
    }),
    '</testsuite>',
    '',
  ].join('\n')
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Without characters that XML 1.0 cannot contain, which a broken gateway may return. */
function escaped(text: string): string {
  return text
    .replace(/[&<>"]/g, (character) => entities[character] ?? character)
    .replace(/\p{Cc}/gu, ' ')
    .toWellFormed()
}
