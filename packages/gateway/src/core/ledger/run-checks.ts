// Runs the checks of store/ledger-checks.ts, one run at a time, and formats the result.
import { Failure } from '@tillgate/protocol'
import type { Verification } from './store/ledger-checks.ts'

/** A run may hold a connection for minutes, so concurrent runs would leave none for payments. */
export function makeVerifyLedger(verify: () => Promise<Verification>): () => Promise<Verification> {
  let isUnderWay = false
  return async () => {
    if (isUnderWay)
      throw new Failure('too_many_requests', {
        retryAfterSeconds: 10,
        message: 'The ledger is already being verified. Try again when the verification ends.',
      })
    isUnderWay = true
    try {
      return await verify()
    } finally {
      isUnderWay = false
    }
  }
}

export function describeVerification({ claims, accounts, transfers, findings }: Verification): string[] {
  const looked = `${accounts} accounts, ${transfers} transfers, ${claims} claims`
  if (findings.length === 0) return [`The ledger is clean: ${looked}.`]
  return [
    `The ledger is NOT clean: ${looked}. Violated rules: ${findings.length}.`,
    ...findings.flatMap(({ claim, count, examples }) => [
      '',
      `Violated rule: ${claim} (${count} rows). Examples:`,
      ...examples.map((example) => `  ${example}`),
    ]),
  ]
}
