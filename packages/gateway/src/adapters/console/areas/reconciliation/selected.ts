// The selected breaks before they are resolved at once: how many, their sum, and which resolutions apply to all.
import { uuidPattern } from '@tillgate/protocol'
import { bulkResolutions, totalOf } from '../../../../actions/reconciliation/selected-breaks.ts'
import { type Html, html } from '../../../kit/html.ts'
import { empty, facts } from '../../../kit/pages/tables.ts'
import { actionForms } from '../../action-forms.ts'
import { type ConsolePage, type ConsoleRoute, orNothing, type Visit } from '../../console.ts'
import { breakTable, kindLabels } from './break-table.ts'
import { reconciliationPath } from './tabs.ts'

const maxSelected = 50
export const selectedPath = `${reconciliationPath}/selected`

export const selectedArea: readonly ConsoleRoute[] = [{ path: selectedPath, show }]

async function show(visit: Visit): Promise<ConsolePage> {
  const { query, refused, operations, context } = visit
  const ids = (refused?.typed ?? query).getAll('break').filter((each) => uuidPattern.test(each))
  const looked = await Promise.all(
    [...new Set(ids)]
      .slice(0, maxSelected)
      .map((breakId) => orNothing(operations.reconciliation.breaks.showBreak(context, breakId))),
  )
  const found = looked.flatMap((each) => (each && each.found.resolution === undefined ? each.found : []))
  const kinds = [...new Set(found.map(({ kind }) => kindLabels[kind]))]
  const total = totalOf(found)
  const fitting = Object.entries(bulkResolutions).filter(([, { applies }]) => found.every(applies))
  return {
    title: 'Resolve selected breaks',
    area: 'reconciliation',
    content:
      found.length === 0
        ? empty(
            html`No open break is selected. <a href="${reconciliationPath}">Select breaks</a> in the list.`,
          )
        : html`${facts([
            ['Selected', `${found.length} ${found.length === 1 ? 'break' : 'breaks'}`],
            ['Kind', kinds.join(', ')],
            ['Unexplained in total', html`<strong>${total}</strong>`],
            [
              'Resolutions that fit all selected breaks',
              [...fitting.map(([, { label }]) => label), 'Assign to an operator'].join(', '),
            ],
          ])}
${found.map(({ breakId }): Html => html`<input type="hidden" name="break" value="${breakId}" form="selected">`)}
${actionForms(visit, 'breaks.selected', { subject: found, values: { total, what: fitting[0]?.[0] ?? 'assign' } })}
${breakTable(visit, found)}
<p class="acts"><a class="button" href="${reconciliationPath}">Back</a></p>`,
  }
}
