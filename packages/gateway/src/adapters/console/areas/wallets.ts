// Consumers' wallets: find by login or name, top up, lock and unlock.
import { uuidPattern } from '@tillgate/protocol'
import { isWalletShut, type Wallet } from '../../../core/wallets/rules/wallet.ts'
import { type Html, html } from '../../kit/html.ts'
import { statusBadge } from '../../kit/pages/status.ts'
import { facts, noneFits, number, table } from '../../kit/pages/tables.ts'
import { actionForms } from '../action-forms.ts'
import { balanceTable } from '../balances.ts'
import { type ConsolePage, type ConsoleRoute, orNothing, type Visit } from '../console.ts'
import { status } from '../statuses.ts'
import { ago, amount, moment } from '../words.ts'
import { movementsOf } from './money/movements.ts'

const path = '/wallets'
const maxShown = 100

export const walletsArea: readonly ConsoleRoute[] = [
  { path, show },
  { path: `${path}/:walletId`, show: showOne },
]

async function show(visit: Visit): Promise<ConsolePage> {
  const sought = (visit.query.get('q') ?? '').trim().slice(0, 64)
  const wallets = await visit.operations.wallets.listWallets(visit.context, sought || undefined, maxShown)
  return {
    title: 'Wallets',
    area: 'wallets',
    beside: actionForms(visit, 'wallets'),
    content: html`<form class="filters" role="search"><label class="wide">Search<input type="search" name="q" value="${sought}" maxlength="64" placeholder="Start of login or name" autocomplete="off"></label><button>Search</button></form>
${table(
  'Wallets, newest first',
  ['Name', 'Login', 'Status', 'Created'],
  wallets.map((wallet) => [
    html`<a class="wrap" href="${path}/${wallet.walletId}">${wallet.name}</a>`,
    html`<span class="wrap">${wallet.login}</span>`,
    statusOf(wallet, visit.nowMs),
    ago(wallet.createdAtMs, visit.nowMs),
  ]),
  { isTall: true, none: sought === '' ? 'No wallets yet.' : noneFits('wallet', path) },
)}
${wallets.length === maxShown && html`<p class="quiet">Showing the newest ${maxShown}. Search to find others.</p>`}`,
  }
}

async function showOne(visit: Visit): Promise<ConsolePage | undefined> {
  const { walletId = '' } = visit.params
  if (!uuidPattern.test(walletId)) return undefined
  const found = await orNothing(visit.operations.wallets.showWallet(visit.context, walletId))
  if (!found) return undefined
  const { wallet, balances, limits } = found
  return {
    title: wallet.name,
    area: 'wallets',
    beside: actionForms(visit, 'wallet', { subject: wallet, values: { walletId } }),
    content: html`<p>${statusOf(wallet, visit.nowMs)}</p>
<div class="grid"><section><h2>Wallet</h2>${facts([
      ['Login', wallet.login],
      ['Wallet ID', html`<code>${wallet.walletId}</code>`],
      wallet.behaviour !== undefined && (['Test wallet', wallet.behaviour] as const),
      ['Consecutive wrong PINs', wallet.tries],
      ['Created', moment(wallet.createdAtMs, visit.nowMs)],
    ])}</section>
<section><h2>Balances</h2>${balanceTable(balances, { held: 'Pending', none: 'No balance yet.' })}
<h2>Limits</h2>${table(
      'Limits of this wallet',
      ['Currency', number('Per payment'), number('Per day'), number('Maximum balance')],
      limits.map((each) => [
        each.currency,
        limit(each.paymentMinor, each.currency),
        limit(each.dayMinor, each.currency),
        limit(each.balanceMinor, each.currency),
      ]),
      { none: 'The gateway’s default limits apply.' },
    )}</section></div>
${await movementsOf(visit, { ownerKind: 'wallet', ownerId: walletId }, `${path}/${walletId}`)}`,
  }
}

function limit(minor: bigint | undefined, currency: string): Html | string {
  return minor === undefined ? 'Default' : amount(minor, currency)
}

function statusOf(wallet: Wallet, nowMs: number): Html {
  if (wallet.status === 'active' && isWalletShut(wallet, nowMs))
    return html`${statusBadge('wait', 'Locked by wrong PINs')} <span class="quiet">until ${ago(wallet.lockedUntilMs, nowMs)}</span>`
  return status(wallet.status)
}
