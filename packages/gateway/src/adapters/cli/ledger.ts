// tillgate ledger verify: proves that the books balance, on a live system and without blocking it.
import { Command } from 'commander'
import { describeVerification } from '../../core/ledger/run-checks.ts'
import { type OutputOptions, print, type Terminal, type WithContext } from './context.ts'

export function ledgerCommand(withContext: WithContext, terminal: Terminal): Command {
  const command = new Command('ledger').description('verify that the books balance')
  command
    .command('verify')
    .description('recompute every account from its transfers and compare; exit code 1 if anything differs')
    .option('--json', 'Print JSON')
    .action((options: OutputOptions) =>
      withContext(async ({ operations }) => {
        const verification = await operations.verifyLedger()
        print(terminal, options, { value: verification, lines: describeVerification(verification) })
        if (verification.findings.length > 0) terminal.setExitCode(1)
      }),
    )
  return command
}
