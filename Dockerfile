# The service with a PostgreSQL of yours: small, not root, nothing in it is written but /data. docs/operations.md, Container.
FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The optional packages are a Node and a PostgreSQL for machines that have none. No script of a package is run.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit

FROM node:24-slim AS console
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# With the packages of development, and the compilers among the optional ones; none of it is in the image.
RUN npm ci --ignore-scripts --no-audit
COPY tsconfig.json ./
COPY src src
COPY console console
RUN ["node", "console/build.ts"]

FROM node:24-slim
# What a container listens on is reached from its own network alone; what is published is said outside.
ENV NODE_ENV=production HOST=0.0.0.0 INTERNAL_HOST=0.0.0.0 DATA_DIR=/data
RUN install --directory --owner=node --group=node --mode=0700 /data
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json openapi.json ./
COPY migrations migrations
COPY sandbox sandbox
COPY client/src client/src
COPY examples examples
COPY src src
COPY --from=console /app/console/dist console/dist
USER node
EXPOSE 8080 8081 8083
# Node handles SIGTERM itself, as the first process too: it finishes what is under way. Give it longer than SHUTDOWN_TIMEOUT_MS.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 CMD ["node", "src/listeners/health-check.ts"]
CMD ["node", "--disable-proto=delete", "src/main.ts"]
