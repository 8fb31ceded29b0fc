# The gateway, its runner and the page in one image. Data is in /data; see compose.yaml for PostgreSQL.
FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY . .
RUN npm ci && npm run build && npm prune --omit=dev

FROM node:22-bookworm-slim
# Inside a container the gateway must listen on every address; publish its port on 127.0.0.1 only, or behind a proxy with TLS.
ENV NODE_ENV=production \
    HOLDPOINT_HOME=/data \
    HOLDPOINT_HOST=0.0.0.0 \
    HOLDPOINT_ALLOW_REMOTE=1
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/packages ./packages
# The gateway refuses a data folder that other users could write to.
RUN mkdir -m 700 /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 4747
HEALTHCHECK --interval=10s --timeout=3s CMD ["node", "-e", "fetch('http://127.0.0.1:4747/healthz').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "packages/cli/bin/holdpoint.js"]
CMD ["up"]
