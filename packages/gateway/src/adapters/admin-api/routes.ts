// Every route of the admin API.
import { catalogue } from '../../actions/catalog.ts'
import { type ApiRoute, routesOf } from './api.ts'

export const apiRoutes: readonly ApiRoute[] = routesOf(catalogue)
