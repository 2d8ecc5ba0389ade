// The table and the picture of docs/performance.md, made from what the last whole benchmark kept.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { drawTable } from '../../bench/picture.ts'
import type { Row } from '../../bench/scenario.ts'
import { type Tables, table } from '../../packages/protocol/documentation/tables.ts'

const kept: { readonly machine: string; readonly rows: readonly Row[] } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../bench/results.json'), 'utf8'),
)

export const benchmarkTables: Tables = {
  benchmark: () =>
    table(
      ['Scenario', 'Ours', 'Yardstick', 'Ratio', 'Of all runs', 'Goal', 'Met'],
      kept.rows.map(({ name, ours, yardstick, ratio, ofRuns = [], goal, isGoalMet }) => [
        name,
        ours,
        yardstick || '–',
        ratio?.toFixed(2) ?? '–',
        ofRuns.join(', '),
        goal ? `${goal.bound} ${goal.ratio}` : '–',
        isGoalMet === undefined ? '' : isGoalMet ? 'yes' : 'no',
      ]),
    ),
}

export function benchmarkPicture(): string {
  return drawTable(kept.rows, kept.machine)
}
