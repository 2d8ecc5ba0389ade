// The admin API's side of the acts: serve.ts checks by these routes, openapi.ts describes by them.
import type { TObject } from 'typebox'
import type { Act, ApiFace } from '../../actions/action.ts'
import { faceOf, object } from '../../actions/fields.ts'

export const apiPrefix = '/api/admin/v1'

export interface ApiRoute
  extends ApiFace,
    Pick<Act, 'scope' | 'summary' | 'effects' | 'params' | 'answer' | 'isOnce' | 'takesFile' | 'checks'> {
  readonly act: Act
  readonly query: TObject | undefined
  readonly body: TObject | undefined
}

export function routesOf(catalogue: readonly Act[]): readonly ApiRoute[] {
  return catalogue.flatMap((act) => {
    const { api, input } = act
    if (!api) return []
    const taken = input && forPrograms(input)
    // A file is the body, so that it needs no other form and is not held twice.
    const isQuery = api.method === 'GET' || act.takesFile
    return [
      {
        ...act,
        ...api,
        act,
        ...(isQuery ? { query: taken, body: undefined } : { query: undefined, body: taken }),
      },
    ]
  })
}

function forPrograms(input: TObject): TObject {
  const fields = Object.entries(input.properties).filter(([, field]) => faceOf(field).only === undefined)
  return object((input as { description?: string }).description ?? '', Object.fromEntries(fields))
}
