// Every route of the admin API.
import { catalog } from '../../actions/catalog.ts'
import { type ApiRoute, routesOf } from './api.ts'

export const apiRoutes: readonly ApiRoute[] = routesOf(catalog)
