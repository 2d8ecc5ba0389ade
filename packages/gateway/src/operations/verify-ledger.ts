// Whether the books balance, in words for people.
import type { Verification } from '../store/ledger-verification.ts'

export function describeVerification({ claims, accounts, transfers, findings }: Verification): string[] {
  const looked = `${accounts} accounts, ${transfers} transfers, ${claims} claims`
  if (findings.length === 0) return [`The ledger is clean: ${looked}.`]
  return [
    `The ledger is NOT clean: ${looked}, ${findings.length} of them untrue.`,
    ...findings.flatMap(({ claim, count, examples }) => [
      '',
      `It is not so that ${claim}: ${count} times, for example`,
      ...examples.map((example) => `  ${example}`),
    ]),
  ]
}
