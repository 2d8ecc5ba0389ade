// Checks the dashboard and the alert rules in ops/ against the gateway's metrics: with an unknown name or label, a panel
// would stay empty and an alert would never fire.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeDatabaseMetrics } from './database-metrics.ts'
import { makeGatewayMetrics } from './gateway-metrics.ts'
import { addProcessMetrics } from './process-metrics.ts'
import { makeSupervisorMetrics } from './supervisor-metrics.ts'

const folder = join(import.meta.dirname, '../../../../../../ops')
const source = join(import.meta.dirname, '../../..')
const read = (name: string) => readFileSync(join(folder, name), 'utf8')

/** Each name that a query may use, with its labels. */
async function knownNames(): Promise<Map<string, Set<string>>> {
  const { registry } = makeGatewayMetrics()
  addProcessMetrics(registry, { version: '', mode: '', node: '' })
  const database = makeDatabaseMetrics({
    clock: { now: () => 0, wait: () => new Promise(() => {}) },
    read: async () => ({
      orders: {},
      refunding: 0,
      authorizationsWaiting: 0,
      oldestAuthorizationDueAtMs: undefined,
      oldestAuthorizationSubmittedAtMs: undefined,
      oldestExpiryAtMs: undefined,
      callbacks: {
        waiting: 0,
        due: 0,
        exhausted: 0,
        oldestDueAtMs: undefined,
        failingHosts: 0,
        pausedHosts: 0,
        failingDestinations: 0,
        pausedDestinations: 0,
      },
      reconciliation: {
        openBreaks: 0,
        oldestBreakAtMs: undefined,
        unexplained: [{ account: 'bank:main', currency: 'EUR', minor: 0 }],
      },
      lastBackupAtMs: undefined,
      emails: { waiting: 0, oldestDueAtMs: undefined },
      rails: { paused: 0, failing: 0, tasksWaiting: 0, suspenseMinor: {} },
      databaseBytes: 0,
    }),
  })
  const families = [
    ...registry.snapshot(),
    ...makeSupervisorMetrics(1).registry.snapshot(),
    ...(await database()),
  ]
  const ofScrape = ['job', 'instance']
  return new Map([
    ['up', new Set(ofScrape)],
    ...families.flatMap(({ name, kind, labelNames }): [string, Set<string>][] => {
      const labels = new Set([...labelNames, ...ofScrape])
      if (kind !== 'histogram') return [[name, labels]]
      return [
        [`${name}_bucket`, new Set([...labels, 'le'])],
        [`${name}_sum`, labels],
        [`${name}_count`, labels],
      ]
    }),
  ])
}

const words = new Set(
  'and by sum max count rate increase histogram_quantile max_over_time offset time __rate_interval job le'.split(
    ' ',
  ),
)

function checkExpression(expression: string, known: Map<string, Set<string>>): void {
  const brackets: string[] = []
  const plain = expression.replaceAll(/"[^"\n]*"/g, '""')
  for (const character of plain) {
    if ('([{'.includes(character)) brackets.push(character)
    if (')]}'.includes(character)) assert.equal('([{'[')]}'.indexOf(character)], brackets.pop())
  }
  assert.deepEqual(brackets, [], expression)
  const used = new Set<string>()
  for (const [, name = '', selector = ''] of plain.matchAll(
    /\b((?:tillgate|process)_\w+|up)\b(?:\{([^}]*)\})?/g,
  )) {
    const labels = known.get(name)
    assert.ok(labels, `there is no metric ${name}`)
    for (const [, label = ''] of selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g))
      assert.ok(labels.has(label), `${name} has no label ${label}`)
    for (const label of labels) used.add(label)
  }
  assert.ok(used.size > 0, `it names no metric: ${expression}`)
  for (const [, list = ''] of plain.matchAll(/\bby \(([^)]*)\)/g))
    for (const label of list.split(',')) assert.ok(used.has(label.trim()), `no metric there has ${label}`)
  const bare = plain.replaceAll(/\{[^}]*\}|\[[^\]]*\]|\bby \([^)]*\)|\boffset \w+/g, '')
  for (const [word] of bare.matchAll(/\b[a-zA-Z_]\w*/g))
    assert.ok(words.has(word) || known.has(word), `what is ${word} in ${expression}`)
}

/** Only for this file's format: an expression on its line, or in an indented block. */
function alertsIn(text: string): { name: string; expression: string; block: string }[] {
  return text
    .split(/^ {6}- alert: /m)
    .slice(1)
    .map((block) => ({
      name: block.slice(0, block.indexOf('\n')),
      expression:
        /^ {8}expr: \|\n((?: {10}.*\n)+)/m.exec(block)?.[1] ?? /^ {8}expr: (.+)$/m.exec(block)?.[1] ?? '',
      block,
    }))
}

test('every alert uses existing metrics and labels, and says what to do', async () => {
  const known = await knownNames()
  const alerts = alertsIn(read('alerts.yml'))
  assert.ok(alerts.length >= 14)
  for (const { name, expression, block } of alerts) {
    assert.match(name, /^Tillgate\w+$/)
    checkExpression(expression, known)
    for (const part of ['severity: (page|ticket)', 'summary: .+', 'action: .+'])
      assert.match(block, new RegExp(part), name)
  }
})

test('an alert that quotes a log message quotes one that the gateway writes', () => {
  const files = globSync('**/*.ts', { cwd: source, exclude: ['**/*.test.ts'] })
  const written = files.map((file) => readFileSync(join(source, file), 'utf8')).join()
  const quoted = [...read('alerts.yml').matchAll(/"([a-z ]+)"/g)].map(([, message = '']) => message)
  assert(quoted.length > 3)
  assert.deepEqual(
    quoted.filter((message) => !written.includes(`'${message}`)),
    [],
  )
})

test('every dashboard panel uses existing metrics and labels', async () => {
  const known = await knownNames()
  const { panels } = JSON.parse(read('grafana-dashboard.json'))
  const targets = panels.flatMap((panel: { targets?: { expr: string }[] }) => panel.targets ?? [])
  assert.ok(targets.length > 30)
  for (const { expr } of targets) checkExpression(expr.replaceAll('$', ''), known)
})

test('the dashboard has a row for everything that an operator monitors, with alerts for what is urgent', () => {
  const { panels } = JSON.parse(read('grafana-dashboard.json'))
  const rows = panels.filter(({ type }: { type: string }) => type === 'row')
  assert.deepEqual(
    rows.map(({ title }: { title: string }) => title),
    [
      'Requests',
      'Where the time goes',
      'Orders and money',
      'Suspense and reconciliation',
      'Rails',
      'Callbacks',
      'Endpoint health',
      'Emails',
      'Database and backups',
      'Machine',
    ],
  )
  const expressions = JSON.stringify(panels)
  for (const name of [
    'tillgate_suspense_minor',
    'tillgate_reconciliation_breaks',
    'tillgate_reconciliation_break_age_seconds',
    'tillgate_rails',
    'tillgate_emails_total',
    'tillgate_emails_waiting',
    'tillgate_database_bytes',
    'tillgate_callback_hosts',
    'tillgate_callback_destinations',
    'tillgate_last_backup_timestamp_seconds',
  ])
    assert(expressions.includes(`${name}{`), name)
  const alerts = alertsIn(read('alerts.yml')).map(({ name }) => name)
  for (const name of ['TillgateBreaksOpen', 'TillgateBackupOld', 'TillgateCallbackDestinationsPaused'])
    assert(alerts.includes(name), name)
  const places = panels.map(({ gridPos: { x, y } }: { gridPos: { x: number; y: number } }) => `${x} ${y}`)
  assert.equal(new Set(places).size, places.length, 'no two panels are in one place')
})

/** The meaning of each label for all metrics, because a query that joins two by a label joins the same things. */
const labelsByMeaning: Readonly<Record<string, RegExp>> = {
  account: /^tillgate_reconciliation_/,
  act: /^tillgate_crypto_/,
  area: /^tillgate_memory_/,
  batch: /^tillgate_batch_/,
  code: /^tillgate_api_/,
  commit: /^tillgate_build_info$/,
  currency: /_minor$/,
  http_status: /_http_requests_total$/,
  incident: /^tillgate_callback_/,
  kind: /^tillgate_database_/,
  mode: /^tillgate_build_info$/,
  node: /^tillgate_build_info$/,
  operation: /^tillgate_api_/,
  outcome: /^tillgate_(callback_attempts|trace_spans)_total$/,
  reason: /^tillgate_requests_shed_total$/,
  route: /_http_requests_total$/,
  state:
    /^tillgate_(callbacks|callback_hosts|callback_destinations|rails|emails_total|database_pool_connections|event_loop_seconds_total)$/,
  status: /^tillgate_(orders|order_changes_total|refund_changes_total)$/,
  version: /^tillgate_build_info$/,
}

test('a label has one meaning, which is documented', async () => {
  const documentation = readFileSync(join(folder, '../docs/operating.md'), 'utf8')
  for (const [name, labels] of await knownNames()) {
    for (const label of labels) {
      if (['job', 'instance', 'le'].includes(label)) continue
      assert.match(
        name.replace(/_(bucket|sum|count)$/, ''),
        labelsByMeaning[label] ?? /^$/,
        `${label} of ${name}`,
      )
      assert.match(documentation, new RegExp(`^\\| \`${label}\` \\|`, 'm'), label)
    }
  }
})

test('the check itself detects errors', async () => {
  const known = await knownNames()
  for (const wrong of [
    'sum(tillgate_no_such_total)',
    'sum(tillgate_orders{state="x"})',
    'sum by (operation) (tillgate_orders)',
    'sum(tillgate_orders',
    'tillgate_batch_items',
    'smu(tillgate_orders)',
  ])
    assert.throws(() => checkExpression(wrong, known), wrong)
})
