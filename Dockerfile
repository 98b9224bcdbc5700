# merit as a server: docker build -t merit . (docs/how-to/serve.md). Written and linted, not run yet.
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE constraints.txt ./
COPY src ./src
RUN python -m venv /opt/merit \
 && /opt/merit/bin/pip install --no-cache-dir --constraint constraints.txt '.[postgres,mysql,duckdb,parquet]'

FROM python:3.12-slim
RUN useradd --create-home --uid 10001 merit \
 && mkdir -p /project/.merit /cache \
 && chown -R merit:merit /project /cache
COPY --from=build /opt/merit /opt/merit
ENV PATH=/opt/merit/bin:$PATH \
    MERIT_CACHE=/cache \
    PYTHONUNBUFFERED=1
USER 10001
WORKDIR /project
VOLUME ["/project/.merit", "/cache"]
EXPOSE 8765
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8765/health/live', timeout=3)"]
ENTRYPOINT ["merit"]
CMD ["serve", "--host", "0.0.0.0", "--no-browser", "--json-log"]
