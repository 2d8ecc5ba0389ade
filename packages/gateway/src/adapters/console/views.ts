// Saved views of the console's lists. A list is known by the path of its page.

import { carried } from '../kit/forms/refused-form.ts'
import type { Html } from '../kit/html.ts'
import { maxViews, viewBar, withView } from '../kit/pages/saved-views.ts'
import type { ConsoleRoute, Done, Visit } from './console.ts'

const path = '/views'
const listPattern = /^\/[a-z/-]{1,40}$/

export const viewsArea: readonly ConsoleRoute[] = [
  { path, page: '/overview', needs: 'viewer', fields: [], act: change },
]

/** Above a list: what was saved of it, and the form that saves the filter of now. */
export function savedViews(visit: Visit, list: string): Html | undefined {
  return viewBar(visit.savedViews.of(nameOf(list)), {
    path: list,
    query: visit.query,
    action: `${path}?list=${list}`,
    hidden: carried(visit),
    words: {
      save: 'Save filter',
      name: 'Name of the filter',
      saved: 'Saved filters',
      remove: (name) => `Remove filter ${name}`,
    },
  })
}

async function change(visit: Visit, form: URLSearchParams): Promise<Done> {
  const list = visit.query.get('list') ?? ''
  if (!listPattern.test(list)) return { kind: 'refused', errors: [] }
  const views = visit.savedViews.of(nameOf(list))
  const removed = form.get('remove')
  if (removed !== null) {
    const left = views.filter(({ name }) => name !== removed)
    return {
      kind: 'go',
      to: list,
      flash: 'Filter removed.',
      cookies: [visit.savedViews.cookie(nameOf(list), left)],
    }
  }
  const query = form.get('query') ?? ''
  const next = withView(views, { name: form.get('name')?.trim() ?? '', query })
  if (!next) {
    const message = `Enter a name. You can save up to ${maxViews} filters per list.`
    return { kind: 'refused', errors: [{ field: undefined, message }] }
  }
  return {
    kind: 'go',
    to: `${list}?${query}`,
    flash: 'Filter saved in this browser.',
    cookies: [visit.savedViews.cookie(nameOf(list), next)],
  }
}

function nameOf(list: string): string {
  return `console${list.replaceAll('/', '-')}`
}
