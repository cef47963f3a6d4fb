// The Allow header: which methods a path has, for a NOT000 that is due to the method alone.
import type { FastifyInstance } from 'fastify'

/** Call it before the routes are added. */
export function allowedMethods(app: FastifyInstance): (url: string) => string[] {
  const routes: { path: RegExp; methods: string[] }[] = []
  app.addHook('onRoute', ({ url, method }) => {
    routes.push({ path: new RegExp(`^${url.replaceAll(/:\w+/g, '[^/]+')}$`), methods: [method].flat() })
  })
  return (url) => {
    const [path = ''] = url.split('?')
    return [...new Set(routes.filter((route) => route.path.test(path)).flatMap(({ methods }) => methods))].toSorted()
  }
}
