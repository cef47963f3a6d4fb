export function schemaOf(document: { paths: object; components: { schemas: object } }): string
export function writeSchema(): void
