# All requirements are available as wheels, so nothing is compiled.
FROM python:3.12-slim-trixie AS packages
COPY requirements.txt /tmp/
RUN python -m venv /venv \
    && /venv/bin/pip install --no-cache-dir --disable-pip-version-check \
        --only-binary :all: --requirement /tmp/requirements.txt

FROM python:3.12-slim-trixie
ENV PATH=/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HEARTH_HOME=/data \
    STATIC_ROOT=/app/staticfiles
# pg_dump and pg_restore for `manage.py backup`, of a version not older than the server in compose.yaml.
# WordNet for semantic proxies.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends postgresql-client wordnet-base \
    && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --create-home --shell /usr/sbin/nologin hearth \
    && install --directory --owner=hearth --group=hearth /data /data/tmp /backups
WORKDIR /app
COPY --from=packages /venv /venv
COPY . .
# The image has no .git. Published numbers contain this commit, so a build without it fails:
# docker build --build-arg HEARTH_COMMIT="$(git describe --always --dirty --abbrev=12 --exclude='*')" .
ARG HEARTH_COMMIT
ENV HEARTH_COMMIT=$HEARTH_COMMIT
# The image contains no key. On localhost, the settings accept the development key.
RUN export HEARTH_HOME=/tmp/build \
    && python -m compileall -q /app \
    && python manage.py check --deploy --tag provenance \
    && python manage.py collectstatic --no-input \
    && rm -r /tmp/build
USER hearth
VOLUME /data
EXPOSE 8000
CMD ["gunicorn", "--config", "deploy/gunicorn.conf.py", "config.wsgi"]
