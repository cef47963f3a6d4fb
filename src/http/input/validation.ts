// How Fastify checks a request against its schema. Nothing is converted: by default "1000" would become 1000 and null 0.
export const strictValidation = {
  customOptions: {
    coerceTypes: false,
    removeAdditional: false,
    useDefaults: false,
    allErrors: true,
    verbose: true,
  },
} as const
