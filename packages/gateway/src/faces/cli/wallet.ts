// tillgate wallet …: consumers' wallets. Every act asks why and is recorded.
import { Failure } from '@tillgate/protocol'
import { Command } from 'commander'
import { availableMinor } from '../../ledger/rules/ledger.ts'
import type { Account } from '../../ledger/store/ledger.ts'
import type { ManageWallets } from '../../wallets/manage-wallets.ts'
import type { Wallet } from '../../wallets/rules/wallet.ts'
import { type AmountOptions, amountText, parseAmount } from './amount.ts'
import { type CommandContext, commandName, type OutputOptions, print, table, withContext } from './context.ts'
import { readTextFile } from './files.ts'
import { done, moneyActs } from './money.ts'

interface ReasonOptions extends OutputOptions {
  readonly reason: string
}

export function walletCommand(): Command {
  const command = new Command('wallet').description(
    'add, look at, top up, lock and unlock consumers’ wallets',
  )

  command
    .command('add')
    .description('add a wallet; without --pin-file a PIN is made and shown this once')
    .requiredOption('--login <login>', 'phone number with country code, or e-mail address')
    .requiredOption('--name <name>', 'the consumer’s name')
    .option('--pin-file <file>', 'a file with the PIN, 6 to 12 digits; - reads standard input')
    .requiredOption('--reason <text>', 'why, for the audit')
    .option('--json', 'print JSON')
    .action((options: ReasonOptions & { login: string; name: string; pinFile?: string }) =>
      withWallets(async (wallets) => {
        const { login, name, pinFile, reason } = options
        const given = pinFile === undefined ? {} : { pin: readTextFile(pinFile).trim() }
        const { wallet, pin } = await wallets.addWallet({ login, name, reason, ...given })
        print(options, { ...wallet, ...(pin !== undefined && { pin }) }, [
          `Wallet ${wallet.walletId} of ${wallet.name} is there.`,
          ...(pin === undefined
            ? []
            : ['', `  PIN  ${pin}`, '', 'Tell it to the consumer now: it is not shown again.']),
          `Next: ${commandName} wallet top-up ${wallet.login} --amount 100 --currency USD --reason TEXT`,
        ])
      }),
    )

  command
    .command('show')
    .description('a wallet and what is in it')
    .argument('<wallet>', 'walletId or login')
    .option('--json', 'print JSON')
    .action((id: string, options: OutputOptions) =>
      withWallets(async (wallets) => {
        const { wallet, balances } = await wallets.showWallet(id)
        print(options, { ...wallet, balances: balances.map(balanceJson) }, describe(wallet, balances))
      }),
    )

  command
    .command('list')
    .description('wallets, the newest first')
    .option('--contains <text>', 'only where login or name contains this')
    .option('--limit <number>', 'at most so many', '100')
    .option('--json', 'print JSON')
    .action((options: OutputOptions & { contains?: string; limit: string }) =>
      withWallets(async (wallets) => {
        const all = await wallets.listWallets(options.contains, parseLimit(options.limit))
        const rows = all.map(({ walletId, login, name, status }) => [walletId, login, name, status])
        print(
          options,
          all,
          all.length === 0 ? ['No wallets.'] : table(['walletId', 'login', 'name', 'status'], rows),
        )
      }),
    )

  command
    .command('top-up')
    .description('put money into a wallet, from the operator’s funding account')
    .argument('<wallet>', 'walletId or login')
    .requiredOption('--amount <amount>', 'such as 12.50')
    .requiredOption('--currency <code>', 'ISO 4217 code')
    .requiredOption('--reason <text>', 'why, for the audit')
    .option('--json', 'print JSON')
    .action((id: string, options: ReasonOptions & AmountOptions) =>
      withWallets(async (wallets, context) => {
        const { currency, amountMinor } = parseAmount(options)
        const { reason } = options
        const walletId = done(await moneyActs(context).topUp(id, { currency, amountMinor, reason }))
        const { wallet, balances } = await wallets.showWallet(walletId)
        const amount = amountText(amountMinor, currency)
        print(options, { walletId, toppedUp: amount, balances: balances.map(balanceJson) }, [
          `${amount} are in the wallet of ${wallet.name}.`,
          ...balanceLines(balances.filter((account) => account.currency === currency)),
        ])
      }),
    )

  for (const verb of ['lock', 'unlock'] as const) {
    command
      .command(verb)
      .description(
        verb === 'lock'
          ? 'neither sign-in nor payment until it is unlocked'
          : 'end a lock, also that of wrong PINs',
      )
      .argument('<wallet>', 'walletId or login')
      .requiredOption('--reason <text>', 'why, for the audit')
      .option('--json', 'print JSON')
      .action((id: string, options: ReasonOptions) =>
        withWallets(async (wallets) => {
          const change = verb === 'lock' ? wallets.lockWallet : wallets.unlockWallet
          const wallet = await change(id, options.reason)
          print(options, wallet, [`Wallet ${wallet.login} is ${wallet.status}.`])
        }),
      )
  }
  return command
}

function withWallets(
  work: (wallets: ManageWallets, context: CommandContext) => Promise<void>,
): Promise<void> {
  return withContext((context) => work(context.acts.wallets, context))
}

function parseLimit(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new Failure('invalid_field', { message: '--limit must be a whole number above zero.' })
}

function describe(wallet: Wallet, balances: readonly Account[]): string[] {
  const { lockedUntilMs } = wallet
  return [
    `walletId  ${wallet.walletId}`,
    `login     ${wallet.login}`,
    `name      ${wallet.name}`,
    `status    ${wallet.status}`,
    ...(lockedUntilMs === undefined
      ? []
      : [`too many wrong PINs; sign-in again from ${new Date(lockedUntilMs).toISOString()}`]),
    '',
    ...balanceLines(balances),
  ]
}

function balanceLines(balances: readonly Account[]): string[] {
  if (balances.length === 0) return ['Nothing in it yet.']
  return table(
    ['available', 'held'],
    balances.map((account) => [
      amountText(availableMinor(account), account.currency),
      amountText(account.debitsPendingMinor, account.currency),
    ]),
  )
}

function balanceJson(account: Account) {
  return {
    currency: account.currency,
    available: amountText(availableMinor(account), account.currency),
    held: amountText(account.debitsPendingMinor, account.currency),
  }
}
