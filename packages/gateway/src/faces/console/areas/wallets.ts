// Consumers' wallets: found by login or name, looked into, topped up, locked and unlocked.
import { Failure, uuidPattern } from '@tillgate/protocol'
import type { OperatorService } from '../../../acts/service.ts'
import { type Html, html } from '../../../http/html.ts'
import { availableMinor } from '../../../ledger/rules/ledger.ts'
import type { Wallet } from '../../../wallets/rules/wallet.ts'
import type { ConsolePage, ConsoleRoute, Done, Visit } from '../console.ts'
import { amountFields, foldedAct, moneyOf, movedNote, reasonOf, required } from '../forms.ts'
import { state, status } from '../statuses.ts'
import { empty, facts, table } from '../tables.ts'
import { ago, amount, moment } from '../words.ts'
import { waitsFor } from './approvals.ts'

const path = '/wallets'
const maxShown = 100

export function walletsArea(running: () => OperatorService): readonly ConsoleRoute[] {
  const back = (visit: Visit) => pathOf(idOf(visit))
  return [
    { path, show },
    { path: `${path}/:walletId`, show: showOne },
    {
      path,
      needs: 'admin',
      back: () => path,
      async act({ actor }, form): Promise<Done> {
        const { wallet, pin } = await running()
          .as(actor)
          .wallets.addWallet({
            login: required(form, 'login', 'the login'),
            name: required(form, 'name', 'the name'),
            reason: reasonOf(form),
          })
        return { kind: 'shown_once', page: pinPage(wallet, pin) }
      },
    },
    {
      path: `${path}/:walletId/top-up`,
      needs: 'admin',
      back,
      async act(visit, form): Promise<Done> {
        const wallet = idOf(visit)
        const { apiTokens, moneyActs } = running()
        const given = await moneyOf(visit, form, { apiTokens, act: `wallet.top-up ${wallet}` })
        const outcome = await moneyActs(visit).topUp(wallet, given)
        if (outcome.kind === 'waiting') return waitsFor(outcome)
        return { kind: 'go', to: pathOf(wallet), note: movedNote(outcome, 'The money is in the wallet.') }
      },
    },
    ...(['lock', 'unlock'] as const).map((verb) => ({
      path: `${path}/:walletId/${verb}`,
      needs: 'operator' as const,
      back,
      async act(visit: Visit, form: URLSearchParams): Promise<Done> {
        const { wallets } = running().as(visit.actor)
        const wallet = await (verb === 'lock' ? wallets.lockWallet : wallets.unlockWallet)(
          idOf(visit),
          reasonOf(form),
        )
        return { kind: 'go', to: pathOf(wallet.walletId), note: `The wallet is ${wallet.status}.` }
      },
    })),
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
<div class="acts">${foldedAct(visit, {
        needs: 'admin',
        action: path,
        label: 'Add a wallet…',
        explains: 'A PIN is made and shown once, for you to tell the consumer.',
        fields: html`<label>Login: phone number with country code, or e-mail<input name="login" required autocapitalize="none" autocomplete="off"></label>
<label>Name<input name="name" required maxlength="256" autocomplete="off"></label>`,
        button: 'Add the wallet',
        wantsReason: true,
      })}</div>
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
${walletActs(visit, wallet)}
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

function isShut({ status: is, lockedUntilMs }: Wallet, nowMs: number): boolean {
  return is === 'locked' || (lockedUntilMs !== undefined && lockedUntilMs > nowMs)
}

function statusOf(wallet: Wallet, nowMs: number): Html {
  if (wallet.status === 'active' && isShut(wallet, nowMs))
    return html`${state('wait', 'locked by wrong PINs')} <span class="quiet">opens ${ago(wallet.lockedUntilMs, nowMs)}</span>`
  return status(wallet.status)
}

function walletActs(visit: Visit, wallet: Wallet): Html {
  const verb = isShut(wallet, visit.nowMs) ? 'unlock' : 'lock'
  return html`<div class="acts">${foldedAct(visit, {
    needs: 'admin',
    action: `${pathOf(wallet.walletId)}/top-up`,
    label: 'Top up…',
    explains: 'Money comes from the operator’s funding account into this wallet.',
    fields: amountFields(visit),
    button: 'Top up',
    wantsReason: true,
  })}${foldedAct(visit, {
    needs: 'operator',
    action: `${pathOf(wallet.walletId)}/${verb}`,
    label: verb === 'lock' ? 'Lock…' : 'Unlock…',
    explains:
      verb === 'lock'
        ? 'It neither signs in nor pays until it is unlocked. Its money stays in it, and refunds still reach it.'
        : 'It signs in and pays again; wrong PINs are forgotten.',
    button: verb === 'lock' ? 'Lock the wallet' : 'Unlock the wallet',
    isDangerous: verb === 'lock',
    wantsReason: true,
  })}</div>`
}

function pinPage(wallet: Wallet, pin: string | undefined): ConsolePage {
  return {
    title: `The wallet of ${wallet.name} is there`,
    area: 'wallets',
    content: html`<p>Tell the consumer this PIN now: it is not shown again.</p>
<p class="secret"><code>${pin}</code></p>
<p><a class="button" href="${pathOf(wallet.walletId)}">To the wallet</a></p>`,
  }
}
