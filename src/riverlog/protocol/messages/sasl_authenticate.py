"""SaslAuthenticate (key 36), versions 0 to 2."""

from riverlog.protocol.schema import data, int16, int64, message, string


@message(key=36, versions="0-2", flexible="2+")
class SaslAuthenticateRequest:
    auth_bytes: bytes = data()


@message(key=36, versions="0-2", flexible="2+")
class SaslAuthenticateResponse:
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+", default=None)
    auth_bytes: bytes = data()
    session_lifetime_ms: int = int64("1+", default=0)
