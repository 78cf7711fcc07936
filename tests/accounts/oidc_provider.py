"""A small OpenID Connect provider in a separate process, for the tests of single sign-on.

It checks the client and its secret, the redirect address and PKCE, and it accepts each code once.
`POST /be` chooses the person who signs in next. Without a person, the provider answers as if the
person had cancelled.

    python -m tests.accounts.oidc_provider PORT CALLBACK
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT, SECRET, KEY_ID = "hearth", "canary-client-secret", "one"


class Provider(ThreadingHTTPServer):
    def __init__(self, port: int, callback: str) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.url, self.callback = f"http://127.0.0.1:{port}", callback
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.person: dict[str, Any] | None = None
        self.codes: dict[str, dict[str, Any]] = {}
        self.access: dict[str, dict[str, Any]] = {}

    def configuration(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "userinfo_endpoint": f"{self.url}/userinfo",
            "jwks_uri": f"{self.url}/keys",
            "response_types_supported": ["code"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        }

    def keys(self) -> dict[str, Any]:
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
        return {"keys": [public | {"kid": KEY_ID, "use": "sig", "alg": "RS256"}]}

    def authorize(self, query: dict[str, str]) -> str:
        assert query["client_id"] == CLIENT
        assert query["redirect_uri"] == self.callback
        assert query["response_type"] == "code"
        assert query["code_challenge_method"] == "S256"
        assert "openid" in query["scope"].split()
        if self.person is None:
            answer = {"error": "access_denied"}
        else:
            answer = {"code": "canary-code-" + secrets.token_hex(8)}
            self.codes[answer["code"]] = {"person": self.person, **query}
        return f"{self.callback}?{urlencode(answer | {'state': query['state']})}"

    def token(self, form: dict[str, str]) -> dict[str, Any]:
        request = self.codes.pop(form["code"])
        assert form["grant_type"] == "authorization_code"
        assert form["redirect_uri"] == self.callback
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        assert challenge == request["code_challenge"]
        access = "canary-access-" + secrets.token_hex(8)
        self.access[access] = request["person"]
        now = int(time.time())
        claims = {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 60, **request["person"]}
        token = jwt.encode(claims, self.key, "RS256", headers={"kid": KEY_ID})
        return {"access_token": access, "token_type": "Bearer", "id_token": token}


class Handler(BaseHTTPRequestHandler):
    server: Provider

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == "/authorize":
            self.send_response(302)
            query = dict(parse_qsl(parts.query))
            self.send_header("Location", self.server.authorize(query))
            self.end_headers()
        elif parts.path == "/userinfo":
            self.answer(self.server.access[self.headers["Authorization"].split()[1]])
        elif parts.path == "/keys":
            self.answer(self.server.keys())
        else:
            self.answer(self.server.configuration())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if self.path == "/be":
            self.server.person = json.loads(body) or None
            self.answer({})
            return
        client = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        assert self.headers["Authorization"] == f"Basic {client}"
        self.answer(self.server.token(dict(parse_qsl(body))))

    def answer(self, content: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(content).encode())

    def log_message(self, *_: Any) -> None:
        pass


if __name__ == "__main__":
    Provider(int(sys.argv[1]), sys.argv[2]).serve_forever()
