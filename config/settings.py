"""The settings of Hearth, read from the environment.

Without any variable, Hearth runs on SQLite and on Celery's filesystem broker, inside HEARTH_HOME.
A production site sets DATABASE_URL, REDIS_URL, SECRET_KEY and ALLOWED_HOSTS.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from hearth.logs import logging_settings

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()

# Not read with `env`, to which a value that begins with $ is the name of another variable.
HEARTH_HOME = Path(os.environ.get("HEARTH_HOME") or BASE_DIR / "var").resolve()
try:
    HEARTH_HOME.mkdir(parents=True, exist_ok=True)
except OSError as error:
    raise ImproperlyConfigured(
        f"The folder {HEARTH_HOME} cannot be created ({error.strerror}). Set HEARTH_HOME to a "
        "folder in which this account may write."
    ) from None

DEBUG = env.bool("DEBUG", False)
DEVELOPMENT_KEY = "hearth-development-key-never-for-a-machine-that-others-can-reach"
SECRET_KEY = env.str("SECRET_KEY", "") or DEVELOPMENT_KEY
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
REDIS_URL = env.str("REDIS_URL", "")
# The commit of the code, for copies without a git checkout.
HEARTH_COMMIT = env.str("HEARTH_COMMIT", "").strip()

# A site that other machines can reach lists its host in ALLOWED_HOSTS, and needs its own secret
# key.
LOCAL_HOSTS = {"localhost", "127.0.0.1", "[::1]", "testserver"}
ON_THIS_MACHINE_ONLY = set(ALLOWED_HOSTS) <= LOCAL_HOSTS
if not ON_THIS_MACHINE_ONLY and not DEBUG and SECRET_KEY == DEVELOPMENT_KEY:
    raise ImproperlyConfigured(
        "SECRET_KEY is the development key. Set SECRET_KEY to your own long random text. "
        "You can make one with: python3 -c 'import secrets; print(secrets.token_urlsafe(64))'"
    )
if not ON_THIS_MACHINE_ONLY and DEBUG:
    raise ImproperlyConfigured(
        "DEBUG shows settings and code to every visitor. Unset DEBUG, or list only this machine in "
        "ALLOWED_HOSTS."
    )
# The demo's accounts have a known password. They can sign in only to the server that `manage.py
# demo` starts, which sets this variable.
DEMO = env.bool("HEARTH_DEMO", False) and ON_THIS_MACHINE_ONLY
# Visitors may read the API's documentation and schema without an account.
PUBLIC_SITE = env.bool("PUBLIC_SITE", False)
# The address of an OpenID Connect provider, without /.well-known/openid-configuration.
OIDC_ISSUER = env.str("OIDC_ISSUER", "").rstrip("/")

INSTALLED_APPS = [
    "hearth.audit",
    "hearth.accounts",
    "hearth.jobs",
    "hearth.idempotency",
    "hearth.webhooks",
    "hearth.operations",
    "hearth.security",
    "pooling",
    "pooling.paragraphs",
    "pooling.phrasings",
    "pooling.moments",
    "pooling.relevant_pairs",
    "pooling.scenes",
    "annotation",
    "evaluation",
    "evaluation.estimates",
    "evaluation.machines",
    "evaluation.spans",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "hearth.shared.staticfiles.HearthStaticFilesConfig",
    "django.contrib.humanize",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    # This app loads an HTTP client, which takes 5 % of the time to start a command.
    *(["allauth.socialaccount.providers.openid_connect"] if OIDC_ISSUER else []),
    "allauth.usersessions",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "csp",
    "rules.apps.AutodiscoverRulesConfig",
]

MIDDLEWARE = [
    "hearth.operations.middleware.ObservedMiddleware",
    "django.middleware.security.SecurityMiddleware",
    # Before WhiteNoise, so that static files have the policy as well.
    "hearth.shared.http.PolicyMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "hearth.operations.middleware.ProbeMiddleware",
    "hearth.audit.middleware.OriginMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "hearth.shared.language.LanguageMiddleware",
    # Before any middleware that reads the body.
    "hearth.requests.middleware.RequestBorderMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "hearth.accounts.middleware.SecondFactorMiddleware",
    "hearth.shared.http.PrivateMiddleware",
    "hearth.shared.http.DomainErrorMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "builtins": [
                "hearth.shared.table_tags",
                "hearth.shared.time_tags",
                "pooling.templatetags.policy_tags",
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# --- Database -----------------------------------------------------------------------------

SQLITE_OPTIONS: dict[str, Any] = {
    # An IMMEDIATE transaction waits for other writers, up to `timeout` seconds. A DEFERRED one
    # fails at once if it starts to write while another transaction writes.
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-65536;",
}
POSTGRESQL_OPTIONS: dict[str, Any] = {
    # Hearth reads all rows of a server-side cursor, so PostgreSQL plans its query for all rows.
    "options": "-c statement_timeout=15s -c lock_timeout=5s "
    "-c idle_in_transaction_session_timeout=30s -c cursor_tuple_fraction=1",
}
# Whether Hearth connects through PgBouncer, which shares connections between transactions.
DATABASE_POOLED = env.bool("DATABASE_POOLED", False)


def database(url: str) -> dict[str, Any]:
    """Return Django's settings for a database URL, with the options that Hearth relies on.

    Without a URL, the database is a file in HEARTH_HOME. In a URL, the characters # ? % + of this
    path would have other meanings.
    """
    settings: dict[str, Any] = (
        environ.Env.db_url_config(url)
        if url
        else {"ENGINE": "django.db.backends.sqlite3", "NAME": str(HEARTH_HOME / "hearth.sqlite3")}
    )
    settings["ATOMIC_REQUESTS"] = False
    if settings["ENGINE"].endswith("sqlite3"):
        if "#" in url:
            raise ImproperlyConfigured("Write # as %23 in DATABASE_URL, which is a URL.")
        settings["OPTIONS"] = {**SQLITE_OPTIONS, **settings.get("OPTIONS", {})}
        # The database of tests is a file, so that their worker processes see the same rows.
        settings["TEST"] = {"NAME": str(HEARTH_HOME / "test.sqlite3")}
    else:
        settings["OPTIONS"] = {**POSTGRESQL_OPTIONS, **settings.get("OPTIONS", {})}
        settings["CONN_MAX_AGE"] = 60
        settings["CONN_HEALTH_CHECKS"] = True
    if settings["ENGINE"] == "django.db.backends.postgresql":
        settings["ENGINE"] = "hearth.shared.postgresql"
    if settings["ENGINE"].endswith("postgresql") and DATABASE_POOLED:
        # PgBouncer refuses these options, so they are set for the database role instead (see
        # docs/operations.md). A server-side cursor would outlive the transaction for which
        # PgBouncer reserves a connection.
        del settings["OPTIONS"]["options"]
        settings["CONN_MAX_AGE"] = 0
        settings["DISABLE_SERVER_SIDE_CURSORS"] = True
    return settings


DATABASES = {"default": database(env.str("DATABASE_URL", ""))}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Caches -------------------------------------------------------------------------------

CACHES = {
    # Shared by all processes, for small values such as the counts of rate limits. Without Redis, it
    # is a table.
    "default": {
        "BACKEND": "hearth.accounts.caches.SharedCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "hearth",
    },
    # The cache of each process, for figures (hearth/shared/caches.py).
    "process": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
}

# --- Jobs ---------------------------------------------------------------------------------

QUEUE_DIR = HEARTH_HOME / "queue"
REDIS_TRANSPORT_OPTIONS: dict[str, Any] = {
    # Longer than the hard time limit. Otherwise a running task would be delivered again.
    "visibility_timeout": 1800,
    "socket_timeout": 5,
    "socket_connect_timeout": 2,
}
FILESYSTEM_TRANSPORT_OPTIONS: dict[str, Any] = {
    "data_folder_in": str(QUEUE_DIR),
    "data_folder_out": str(QUEUE_DIR),
    "control_folder": str(QUEUE_DIR / "control"),
    "polling_interval": 0.2,
}
CELERY_BROKER_URL = REDIS_URL or "filesystem://"
CELERY_BROKER_TRANSPORT_OPTIONS = (
    REDIS_TRANSPORT_OPTIONS if REDIS_URL else FILESYSTEM_TRANSPORT_OPTIONS
)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# The job row holds the result. With a result backend, web processes would wait for Redis.
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_SOFT_TIME_LIMIT = 840
CELERY_TASK_TIME_LIMIT = 900
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0.1}
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_MAX_TASKS_PER_CHILD = 200
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
# The memory that one job may use, in addition to that of an idle worker process; 0: no limit.
WORKER_MEMORY_MB = env.int("WORKER_MEMORY_MB", 4096)
CELERY_BEAT_SCHEDULE_FILENAME = str(HEARTH_HOME / "beat-schedule")

# --- People -------------------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "rules.permissions.ObjectPermissionBackend",
    "hearth.accounts.backends.SignInBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
ACCOUNT_ADAPTER = "hearth.accounts.adapter.InvitedOnlyAdapter"
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
# Failed sign-ins are limited per network address and per account. New accounts are limited per
# address.
ACCOUNT_RATE_LIMITS = {"login_failed": "10/m/ip,10/5m/key", "signup": "20/h/ip"}
# Whether anyone can create an account. Such an account has no role. After it is confirmed, it can
# upload runs to public benchmarks.
OPEN_REGISTRATION = env.bool("OPEN_REGISTRATION", False)
ACCOUNT_LOGOUT_ON_GET = False
# A person who sets a password at a link from an e-mail or from `create_admin`.
ACCOUNT_LOGIN_ON_PASSWORD_RESET = True
ACCOUNT_SESSION_REMEMBER = True
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"

# Network addresses in the audit log are deleted after this time.
AUDIT_ADDRESS_DAYS = env.int("AUDIT_ADDRESS_DAYS", 365)

# --- Second factor --------------------------------------------------------------------------

MFA_ADAPTER = "hearth.accounts.adapter.SecondFactorAdapter"
ACCOUNT_FORMS = {
    name: f"hearth.accounts.forms.{form}"
    for name, form in (
        ("login", "SignInForm"),
        ("reauthenticate", "ReauthenticateForm"),
        ("add_email", "AddEmailForm"),
        ("change_password", "ChangePasswordForm"),
        ("set_password", "SetPasswordForm"),
        ("reset_password", "ResetPasswordForm"),
        ("reset_password_from_key", "NewPasswordForm"),
    )
}
MFA_FORMS = {"add_webauthn": "hearth.accounts.forms.PasskeyForm"}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "Hearth"
# Also accept the codes before and after the current one, for clocks that are up to 30 seconds off.
MFA_TOTP_TOLERANCE = 1
# Most e-mail addresses are not confirmed, because most people get their accounts by invitation.
MFA_ALLOW_UNVERIFIED_EMAIL = True
# Browsers allow passkeys without HTTPS only on this machine.
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = ON_THIS_MACHINE_ONLY
# People with these roles must set up a second factor before anything else.
MFA_REQUIRED_ROLES = env.list("MFA_REQUIRED_ROLES", default=[])
if unknown := set(MFA_REQUIRED_ROLES) - {"annotator", "researcher", "lead", "admin"}:
    raise ImproperlyConfigured(
        f"MFA_REQUIRED_ROLES names {', '.join(sorted(unknown))}. "
        "The roles are annotator, researcher, lead and admin."
    )

# --- Single sign-on -------------------------------------------------------------------------

OIDC_NAME = env.str("OIDC_NAME", "single sign-on")
# Sign in to the account that has the same e-mail address, if the provider has verified it.
OIDC_MATCH_EMAIL = env.bool("OIDC_MATCH_EMAIL", False)
OIDC_NEW_ACCOUNTS = env.bool("OIDC_NEW_ACCOUNTS", False)
OIDC_NEW_ACCOUNT_ROLE = env.str("OIDC_NEW_ACCOUNT_ROLE", "")
if OIDC_NEW_ACCOUNT_ROLE not in {"", "annotator", "researcher", "lead"}:
    raise ImproperlyConfigured(
        "OIDC_NEW_ACCOUNT_ROLE must be annotator, researcher, lead or empty."
    )
SOCIALACCOUNT_ADAPTER = "hearth.accounts.adapter.SingleSignOnAdapter"
SOCIALACCOUNT_EMAIL_AUTHENTICATION = OIDC_MATCH_EMAIL
SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True
SOCIALACCOUNT_PROVIDERS: dict[str, Any] = {
    "openid_connect": {
        "OAUTH_PKCE_ENABLED": True,
        "APPS": [
            {
                "provider_id": "sso",
                "name": OIDC_NAME,
                "client_id": env.str("OIDC_CLIENT_ID", ""),
                "secret": env.str("OIDC_CLIENT_SECRET", ""),
                "settings": {"server_url": OIDC_ISSUER},
            }
        ]
        if OIDC_ISSUER
        else [],
    }
}

# --- E-mail -------------------------------------------------------------------------------

# For example smtp+tls://user:password@mail.example:587. Without it, no e-mail is sent, and the page
# for a forgotten password explains this. E-mails are never printed, because a log must not contain
# the links in them.
EMAIL_URL = env.str("EMAIL_URL", "")
CAN_SEND_EMAIL = bool(EMAIL_URL)
EMAIL_SETTINGS = env.email_url_config(EMAIL_URL or "dummymail://")
globals().update(EMAIL_SETTINGS)
if "console" in EMAIL_SETTINGS["EMAIL_BACKEND"]:
    raise ImproperlyConfigured("EMAIL_URL must not print e-mails: their links would be logged.")
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", "hearth@localhost")

# --- Buckets ------------------------------------------------------------------------------

# Videos and pictures are stored in this bucket, on S3 or on a server that speaks its protocol.
# boto3 reads the credentials from its own variables (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, …).
MEDIA_BUCKET = env.str("MEDIA_BUCKET", "")
# Below this prefix, housekeeping removes old objects that the database does not name. It removes no
# other objects.
MEDIA_BUCKET_PREFIX = env.str("MEDIA_BUCKET_PREFIX", "hearth").strip("/")
# Without an endpoint, the bucket is on S3 and has its own host. Hearth and browsers use the same
# address.
MEDIA_BUCKET_ENDPOINT = env.str("MEDIA_BUCKET_ENDPOINT", "").rstrip("/")
MEDIA_BUCKET_REGION = env.str("MEDIA_BUCKET_REGION", "us-east-1")
# The number of seconds for which the signed address of a video is valid.
MEDIA_ADDRESS_SECONDS = env.int("MEDIA_ADDRESS_SECONDS", 3600)
# The buckets from which leads can add videos. They have the endpoint and the credentials of
# MEDIA_BUCKET.
VIDEO_BUCKETS = env.list("VIDEO_BUCKETS", default=[])
if not all(
    re.fullmatch(r"[a-z0-9][a-z0-9-]{2,62}", name)
    for name in filter(None, [MEDIA_BUCKET, *VIDEO_BUCKETS])
):
    raise ImproperlyConfigured(
        "MEDIA_BUCKET and VIDEO_BUCKETS must be names of 3 to 63 letters a-z, digits and hyphens, "
        "without dots."
    )
if not re.fullmatch(r"[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*", MEDIA_BUCKET_PREFIX):
    raise ImproperlyConfigured(
        "MEDIA_BUCKET_PREFIX must be a name of letters, digits, _ and -, such as hearth."
    )
if not re.fullmatch(r"(https?://[a-z0-9.-]+(:\d+)?)?", MEDIA_BUCKET_ENDPOINT):
    raise ImproperlyConfigured(
        "MEDIA_BUCKET_ENDPOINT must be an address without a path, such as https://s3.example:9000."
    )
if not 60 <= MEDIA_ADDRESS_SECONDS <= 604_800:
    raise ImproperlyConfigured("MEDIA_ADDRESS_SECONDS must be from 60 to 604800 (7 days).")
# The origin from which browsers load videos and pictures.
MEDIA_ORIGINS = (
    [MEDIA_BUCKET_ENDPOINT or f"https://{MEDIA_BUCKET}.s3.{MEDIA_BUCKET_REGION}.amazonaws.com"]
    if MEDIA_BUCKET
    else []
)

# --- HTTP ---------------------------------------------------------------------------------

HTTPS = env.bool("HTTPS", not DEBUG and not ON_THIS_MACHINE_ONLY)
if HTTPS and MEDIA_BUCKET and MEDIA_BUCKET_ENDPOINT.startswith("http:"):
    raise ImproperlyConfigured(
        "MEDIA_BUCKET_ENDPOINT must begin with https://, because browsers load nothing over HTTP "
        "into pages over HTTPS."
    )
SECURE_SSL_REDIRECT = HTTPS


def served_address() -> str:
    """Return the address at which `make serve` or compose.yaml serves the site."""
    host = next((name.lstrip(".") for name in ALLOWED_HOSTS if name != "*"), "localhost")
    if HTTPS:
        port, usual = env.int("HTTPS_PORT", 443), 443
    elif ON_THIS_MACHINE_ONLY:
        port, usual = env.int("PORT", 8000), 80
    else:
        port, usual = env.int("HTTP_PORT", 80), 80
    return f"http{'s' * HTTPS}://{host}{'' if port == usual else f':{port}'}"


# The address of the site in the links that commands print.
HEARTH_SITE = env.str("HEARTH_SITE", "").rstrip("/") or served_address()
if not re.fullmatch(r"https?://[^/?#\s]+", HEARTH_SITE):
    raise ImproperlyConfigured("HEARTH_SITE must be an address such as https://hearth.example.")
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)$"]
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_SECURE = HTTPS
LANGUAGE_COOKIE_SECURE = HTTPS
LANGUAGE_COOKIE_SAMESITE = "Lax"
# With this prefix, browsers accept the cookies only over HTTPS and only from this host.
COOKIE_PREFIX = "__Host-" if HTTPS else ""
# Browsers send a cookie to all ports of a host, so sites on one host need different suffixes. On a
# machine of one person, each HEARTH_HOME has its own.
COOKIE_SUFFIX = env.str(
    "COOKIE_SUFFIX",
    f"_{hashlib.sha256(os.fsencode(HEARTH_HOME)).hexdigest()[:8]}" if ON_THIS_MACHINE_ONLY else "",
)
if not re.fullmatch(r"[A-Za-z0-9_-]*", COOKIE_SUFFIX):
    raise ImproperlyConfigured("COOKIE_SUFFIX may only have letters, digits, _ and -.")
SESSION_COOKIE_NAME = f"{COOKIE_PREFIX}sessionid{COOKIE_SUFFIX}"
CSRF_COOKIE_NAME = f"{COOKIE_PREFIX}csrftoken{COOKIE_SUFFIX}"
LANGUAGE_COOKIE_NAME = f"{COOKIE_PREFIX}django_language{COOKIE_SUFFIX}"
MESSAGES_COOKIE_NAME = f"{COOKIE_PREFIX}messages{COOKIE_SUFFIX}"
MESSAGE_STORAGE = "hearth.shared.messages.MessageStorage"
SESSION_ENGINE = "hearth.accounts.sessions"
SESSION_COOKIE_AGE = 14 * 24 * 3600
CSRF_COOKIE_SECURE = HTTPS
X_FRAME_OPTIONS = "DENY"
# The hosts to which addresses of videos may refer, such as videos.example:8443. If none is listed,
# all hosts are allowed.
VIDEO_HOSTS = [host.lower() for host in env.list("VIDEO_HOSTS", default=[])]
if not all(re.fullmatch(r"[a-z0-9.-]+(:\d+)?", host) for host in VIDEO_HOSTS):
    raise ImproperlyConfigured("VIDEO_HOSTS must list names of hosts, separated by commas.")
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "object-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:", *MEDIA_ORIGINS],
        "font-src": [SELF],
        # The judging room loads videos in advance, even from the bucket.
        "connect-src": [SELF, *MEDIA_ORIGINS],
        # blob: is for clips that are loaded in advance. The hosts are those to which addresses of
        # videos may refer.
        "media-src": [
            SELF,
            "blob:",
            *MEDIA_ORIGINS,
            *([f"https://{host}" for host in VIDEO_HOSTS] or ["https:"]),
        ],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}
# The maximum size of a request without files. Forms, JSON and multipart fields count alike.
DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000_000
# The maximum size of a request with files, as in nginx. Only views marked `receives_files` accept
# files.
UPLOAD_BYTES_MAX = env.int("UPLOAD_MAX_MB", 2048) << 20
# Uploads stop before the disk is full, because judgments are usually stored on the same disk.
DISK_RESERVE_BYTES = env.int("DISK_RESERVE_MB", 512) << 20
UPLOAD_ROOT = HEARTH_HOME / "uploads"
# Files that are still arriving. They are on the disk of the uploads, because /tmp may be in memory
# and too small for a run.
FILE_UPLOAD_TEMP_DIR = str(UPLOAD_ROOT / "incoming")
Path(FILE_UPLOAD_TEMP_DIR).mkdir(parents=True, exist_ok=True)
FILE_UPLOAD_HANDLERS = ["hearth.requests.files.NoFiles"]
# The maximum size of one video or archive, and of all unprepared files of one person together.
# These files arrive in parts. Housekeeping deletes those that have not changed for a week.
VIDEO_BYTES_MAX = env.int("VIDEO_MAX_MB", 16_384) << 20
VIDEO_BYTES_PER_PERSON = env.int("VIDEOS_PER_PERSON_MB", 262_144) << 20
VIDEO_UPLOAD_ROOT = HEARTH_HOME / "video-uploads"
# A folder of the server. Leads can add the videos below it without sending them.
VIDEO_FOLDER = env.str("VIDEO_FOLDER", "")
# The number of proxies in front of Hearth that set X-Forwarded-For. With 0, the header is ignored.
TRUSTED_PROXIES = env.int("TRUSTED_PROXIES", 0)
ALLAUTH_TRUSTED_PROXY_COUNT = TRUSTED_PROXIES
# Many addresses are stored or made without a request, so they have no prefix.
if os.environ.get("SCRIPT_NAME", "").strip("/"):
    raise ImproperlyConfigured(
        "Hearth cannot be served below a path. Unset SCRIPT_NAME, and give Hearth its own host "
        "name or port."
    )

LANGUAGE_CODE = "en"
# The languages of annotators' pages. `make messages` updates and compiles their files.
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
LOCALE_PATHS = [BASE_DIR / "locale"]
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
LANGUAGE_COOKIE_HTTPONLY = True
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True
USE_THOUSAND_SEPARATOR = True

# --- Files --------------------------------------------------------------------------------

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = env.str("STATIC_ROOT", str(HEARTH_HOME / "static"))
MEDIA_ROOT = str(HEARTH_HOME / "media")
LABEL_SET_ROOT = str(HEARTH_HOME / "labelsets")
PROXY_ROOT = str(HEARTH_HOME / "proxies")
MATRIX_ROOT = str(HEARTH_HOME / "matrices")
# If set, nginx sends media files from this location, after a view has checked the permission.
MEDIA_ACCEL_PREFIX = env.str("MEDIA_ACCEL_PREFIX", "")


def bucket_storage() -> dict[str, Any]:
    """Return the storage of the media in `MEDIA_BUCKET`."""
    s3 = f"https://s3.{MEDIA_BUCKET_REGION}.amazonaws.com"
    return {
        "BACKEND": "hearth.shared.buckets.BucketStorage",
        "OPTIONS": {
            "bucket_name": MEDIA_BUCKET,
            "location": MEDIA_BUCKET_PREFIX,
            "region_name": MEDIA_BUCKET_REGION,
            "endpoint_url": MEDIA_BUCKET_ENDPOINT or s3,
            "addressing_style": "path" if MEDIA_BUCKET_ENDPOINT else "virtual",
            "querystring_expire": MEDIA_ADDRESS_SECONDS,
        },
    }


STORAGES = {
    # nginx sends these files and runs under another account, which must be able to read them.
    "default": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"file_permissions_mode": 0o644, "directory_permissions_mode": 0o755},
    },
    "label_sets": {
        "BACKEND": "hearth.shared.files.DurableStorage",
        "OPTIONS": {"location": LABEL_SET_ROOT},
    },
    "proxies": {
        "BACKEND": "hearth.shared.files.DurableStorage",
        "OPTIONS": {"location": PROXY_ROOT},
    },
    "matrices": {
        "BACKEND": "hearth.shared.files.DurableStorage",
        "OPTIONS": {"location": MATRIX_ROOT},
    },
    "uploads": {
        "BACKEND": "hearth.shared.files.DurableStorage",
        "OPTIONS": {"location": str(UPLOAD_ROOT)},
    },
    "staticfiles": {"BACKEND": "hearth.shared.staticfiles.ModuleManifestStorage"},
}
if MEDIA_BUCKET:
    STORAGES["default"] = bucket_storage()
# Development and tests serve static files without collecting them first.
WHITENOISE_USE_FINDERS = True
WHITENOISE_ALLOW_ALL_ORIGINS = False
Path(STATIC_ROOT).mkdir(parents=True, exist_ok=True)

# --- API ----------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        # The first class decides the status of the response to a request without an account. The
        # class for tokens gives 401; the class for sessions would give 403.
        "hearth.accounts.authentication.PersonTokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["hearth.accounts.permissions.DenyAll"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": [
        "hearth.requests.parsers.JSONParser",
        "hearth.requests.parsers.MultiPartParser",
    ],
    "DEFAULT_THROTTLE_CLASSES": ["hearth.requests.throttles.PersonThrottle"],
    # OPTIONS is refused, because REST framework would look for a serializer in every view.
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_PAGINATION_CLASS": "hearth.shared.paging.BoundedPages",
    "DEFAULT_SCHEMA_CLASS": "hearth.accounts.openapi.RightSchema",
    "NUM_PROXIES": TRUSTED_PROXIES,
    "EXCEPTION_HANDLER": "hearth.shared.http.api_exception_handler",
}
# The maximum number of requests of one person per minute, by `throttle_scope` of the API's views. 0
# sets no limit. A fast annotator sends one answer per second, and claims ten pairs at a time.
REQUESTS_PER_MINUTE = {
    "answers": env.int("ANSWERS_PER_MINUTE", 240),
    "claims": env.int("CLAIMS_PER_MINUTE", 120),
    "requests": env.int("REQUESTS_PER_MINUTE", 600),
    # Requests without an account are counted per network address, which many people can share.
    "visits": env.int("VISITS_PER_MINUTE", 300),
    # Downloads of files of public benchmarks, counted per account, or per network address of
    # visitors.
    "downloads": env.int("DOWNLOADS_PER_MINUTE", 60),
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Hearth",
    "DESCRIPTION": (BASE_DIR / "config" / "api_description.md").read_text(encoding="utf-8"),
    "VERSION": "1",
    # The names of choices that drf-spectacular cannot derive from the names of their fields.
    "ENUM_NAME_OVERRIDES": {
        "DirectionEnum": "pooling.core.direction.CHOICES",
        "FormatEnum": "pooling.core.run_options.FORMATS",
        "EventEnum": "hearth.webhooks.models.Event",
        "ImportDirectionEnum": "pooling.core.direction.IMPORT_CHOICES",
        "StateEnum": "hearth.jobs.models.JobState",
        "UploadStateEnum": "pooling.enums.RunUploadState",
    },
    "SERVE_PERMISSIONS": ["hearth.accounts.permissions.CanReadApiDocs"],
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "hearth.shared.openapi.describe_shared_parts",
    ],
}

# --- Operations ---------------------------------------------------------------------------

# "line" for people, "json" for programs that collect logs: one object per line.
LOG_FORMAT = env.str("LOG_FORMAT", "line")
if LOG_FORMAT not in ("line", "json"):
    raise ImproperlyConfigured("LOG_FORMAT must be line or json.")
LOGGING = logging_settings(LOG_FORMAT, env.str("LOG_LEVEL", "WARNING"))
# Programs that read /metrics send this token as `Authorization: Bearer …`. If it is empty, only
# programs on this machine may read the metrics, and not through a proxy.
METRICS_TOKEN = env.str("METRICS_TOKEN", "")
BACKUP_DIR = env.str("BACKUP_DIR", str(HEARTH_HOME / "backups"))
# /readyz fails if the last backup is older than this. With 0, its age is not checked, for sites
# whose backups are not made with `manage.py backup`.
BACKUP_MAX_AGE_HOURS = env.float("BACKUP_MAX_AGE_HOURS", 0)
# A public key (age1…), and the file with the private key, which only a restore needs.
BACKUP_RECIPIENT = env.str("BACKUP_RECIPIENT", "")
BACKUP_KEY_FILE = env.str("BACKUP_KEY_FILE", "")
# A secret of at least 32 characters. `backup` signs archives with it, and `restore` then accepts no
# others.
BACKUP_SIGNING_KEY = env.str("BACKUP_SIGNING_KEY", "")
# The number of days for which the rows of finished jobs are kept.
KEEP_JOBS_DAYS = env.int("KEEP_JOBS_DAYS", 90)

# Private hosts that webhooks may reach, even over plain HTTP. All other hosts must be public.
WEBHOOK_PRIVATE_HOSTS = env.list("WEBHOOK_PRIVATE_HOSTS", default=[])

# Machine judges by name, as JSON: {"NAME": {"url": "https://…", "key": "…", "budget": 100000}}. The
# key is sent as `Authorization: Bearer …`. The budget is the maximum number of pairs of a request.
try:
    MACHINE_JUDGES = json.loads(env.str("MACHINE_JUDGES", "") or "{}")
except ValueError:
    MACHINE_JUDGES = None
for _judge in MACHINE_JUDGES.values() if isinstance(MACHINE_JUDGES, dict) else [None]:
    if (
        not isinstance(_judge, dict)
        or not set(_judge) <= {"url", "key", "budget"}
        or not re.match(r"https?://[^/?#\s]+", str(_judge.get("url")))
    ):
        raise ImproperlyConfigured(
            'MACHINE_JUDGES must be JSON such as {"NAME": {"url": "https://judge.example"}}, with '
            "an optional key and budget for each judge."
        )

# A chat endpoint in the form of OpenAI's API, up to `/v1`, that writes phrasings of captions, the
# name of its model, and its key. Nothing is sent anywhere unless both of the first two are set.
PHRASING_ENDPOINT = env.str("PHRASING_ENDPOINT", "")
PHRASING_MODEL = env.str("PHRASING_MODEL", "")
PHRASING_KEY = env.str("PHRASING_KEY", "")
# The time that one request may take.
PHRASING_SECONDS = env.float("PHRASING_SECONDS", 120)

# --- Publishing ---------------------------------------------------------------------------

# The publisher of the labels, for the metadata of the FIRE export.
PUBLISHER_NAME = env.str("PUBLISHER_NAME", "")
PUBLISHER_EMAIL = env.str("PUBLISHER_EMAIL", "")
PUBLISHER_WEBSITE = env.str("PUBLISHER_WEBSITE", "")
