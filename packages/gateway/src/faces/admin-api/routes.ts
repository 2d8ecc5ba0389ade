// Every route of the admin API.
import { catalogue } from '../../acts/catalogue.ts'
import { type ApiRoute, routesOf } from './api.ts'

export const apiRoutes: readonly ApiRoute[] = routesOf(catalogue)
