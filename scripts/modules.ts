// The one order of the gateway's modules. The linter's rules (`node scripts/module-rules.ts`) and the test of the
// structure come from this list and from the folders on disk.

/** Folders of packages/gateway/src, the lowest first: a module imports only modules before it. */
export const modules = [
  'platform/runtime',
  'platform/database',
  'platform/settings',
  'platform/observability',
  'platform/outbound',
  'platform/http',
  'platform/jobs',
  'platform/request-log',
  'core/changes',
  'core/emails',
  'core/authority',
  'core/audit',
  'core/email-log',
  'core/ledger',
  'core/keys',
  'core/wallets',
  'core/merchants',
  'core/callbacks',
  'core/orders',
  'finance/treasury',
  'finance/rails',
  'finance/top-ups',
  'finance/links',
  'finance/payouts',
  'finance/bills',
  'finance/reconciliation',
  'finance/overview',
  'identity/accounts',
  'identity/operators',
  'identity/members',
  'identity/consumers',
  'identity/applications',
  'sandbox',
  'actions',
  'adapters/kit',
  'adapters/merchant-api',
  'adapters/checkout',
  'adapters/wallet',
  'adapters/portal',
  'adapters/console',
  'adapters/admin-api',
  'adapters/cli',
  'adapters/sandbox',
  'adapters/docs',
  'app',
] as const

/** The folders that group modules, and single modules beside them, the lowest first. */
export const layers = [...new Set(modules.map((module) => module.split('/')[0] ?? ''))]

/** The module of a path below packages/gateway/src; undefined for main.ts, which is above all of them. */
export function moduleOf(path: string): string | undefined {
  return modules.find((module) => path.startsWith(`${module}/`))
}
