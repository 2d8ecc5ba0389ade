// Consumers' wallets: found by login or name, looked into, topped up, locked and unlocked.
import { Failure, uuidPattern } from '@tillgate/protocol'
import type { OperatorService } from '../../../acts/service.ts'
import { type Html, html } from '../../../http/html.ts'
import { availableMinor } from '../../../ledger/rules/ledger.ts'
import { isWalletShut, type Wallet } from '../../../wallets/rules/wallet.ts'
import { actForms } from '../act-forms.ts'
import type { ConsolePage, ConsoleRoute, Visit } from '../console.ts'
import { state, status } from '../statuses.ts'
import { empty, facts, table } from '../tables.ts'
import { ago, amount, moment } from '../words.ts'

const path = '/wallets'
const maxShown = 100

export function walletsArea(running: () => OperatorService): readonly ConsoleRoute[] {
  return [
    { path, show },
    { path: `${path}/:walletId`, show: showOne },
  ]

  async function show(visit: Visit): Promise<ConsolePage> {
    const sought = (visit.query.get('q') ?? '').trim().slice(0, 64)
    const wallets = await running()
      .as(visit.actor)
      .wallets.listWallets(sought || undefined, maxShown)
    return {
      title: 'Wallets',
      area: 'wallets',
      content: html`<form class="filters" role="search"><label class="wide">Search<input type="search" name="q" value="${sought}" maxlength="64" placeholder="login or name, or a part of it" autocomplete="off"></label><button>Search</button></form>
${actForms(visit, 'wallets')}
${
  wallets.length === 0
    ? empty(sought === '' ? 'No wallets yet.' : html`No wallet fits. <a href="${path}">Show all</a>`)
    : table(
        'Wallets, the newest first',
        ['Name', 'Login', 'Status', 'Since'],
        wallets.map((wallet) => [
          html`<a class="wrap" href="${pathOf(wallet.walletId)}">${wallet.name}</a>`,
          html`<span class="wrap">${wallet.login}</span>`,
          statusOf(wallet, visit.nowMs),
          ago(wallet.createdAtMs, visit.nowMs),
        ]),
        { isTall: true },
      )
}
${wallets.length === maxShown && html`<p class="quiet">The newest ${maxShown}. Search to find others.</p>`}`,
    }
  }

  async function showOne(visit: Visit): Promise<ConsolePage | undefined> {
    const walletId = idOf(visit)
    if (!uuidPattern.test(walletId)) return undefined
    const found = await running()
      .as(visit.actor)
      .wallets.showWallet(walletId)
      .catch((error: unknown) => {
        if (error instanceof Failure && error.failure === 'not_found') return undefined
        throw error
      })
    if (!found) return undefined
    const { wallet, balances } = found
    return {
      title: wallet.name,
      area: 'wallets',
      content: html`<p>${statusOf(wallet, visit.nowMs)}</p>
${actForms(visit, 'wallet', { subject: wallet, values: { walletId } })}
<div class="grid"><section><h2>Wallet</h2>${facts([
        ['Login', wallet.login],
        ['walletId', html`<code>${wallet.walletId}</code>`],
        wallet.behaviour !== undefined && (['Test wallet', wallet.behaviour] as const),
        ['Wrong PINs in a row', wallet.tries],
        ['Since', moment(wallet.createdAtMs, visit.nowMs)],
      ])}</section>
<section><h2>Money</h2>${
        balances.length === 0
          ? empty('Nothing in it yet.')
          : table(
              'Balances',
              ['Currency', { head: 'Available', isNumber: true }, { head: 'Held', isNumber: true }],
              balances.map((account) => [
                account.currency,
                amount(availableMinor(account), account.currency),
                amount(account.debitsPendingMinor, account.currency),
              ]),
            )
      }</section></div>`,
    }
  }
}

function idOf({ params }: Visit): string {
  return params['walletId'] ?? ''
}

function pathOf(walletId: string): string {
  return `${path}/${encodeURIComponent(walletId)}`
}

function statusOf(wallet: Wallet, nowMs: number): Html {
  if (wallet.status === 'active' && isWalletShut(wallet, nowMs))
    return html`${state('wait', 'locked by wrong PINs')} <span class="quiet">opens ${ago(wallet.lockedUntilMs, nowMs)}</span>`
  return status(wallet.status)
}
