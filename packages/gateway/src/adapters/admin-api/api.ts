// The admin API's view of the actions: serve.ts validates by these routes, and openapi.ts describes them.
import type { TObject } from 'typebox'
import type { Action, ApiOperation } from '../../actions/action.ts'
import { displayOf, object } from '../../actions/fields.ts'

export const apiPrefix = '/api/admin/v1'

export interface ApiRoute
  extends ApiOperation,
    Pick<
      Action,
      'name' | 'scope' | 'summary' | 'effects' | 'params' | 'answer' | 'isOnce' | 'takesFile' | 'checks'
    > {
  readonly action: Action
  readonly query: TObject | undefined
  readonly body: TObject | undefined
}

export function routesOf(catalog: readonly Action[]): readonly ApiRoute[] {
  return catalog.flatMap((action) => {
    const { api, input } = action
    if (!api) return []
    const taken = input && forPrograms(input)
    // A file is the body, so that it needs no multipart form and is not held in memory twice.
    const isQuery = api.method === 'GET' || action.takesFile
    return [
      {
        ...action,
        ...api,
        action,
        ...(isQuery ? { query: taken, body: undefined } : { query: undefined, body: taken }),
      },
    ]
  })
}

function forPrograms(input: TObject): TObject {
  const fields = Object.entries(input.properties).filter(([, field]) => displayOf(field).only === undefined)
  return object((input as { description?: string }).description ?? '', Object.fromEntries(fields))
}
