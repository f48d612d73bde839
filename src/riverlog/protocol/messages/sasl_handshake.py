"""SaslHandshake (key 17), versions 0 to 1."""

from collections.abc import Sequence

from riverlog.protocol.schema import array, int16, message, string


@message(key=17, versions="0-1", flexible="none")
class SaslHandshakeRequest:
    mechanism: str = string()


@message(key=17, versions="0-1", flexible="none")
class SaslHandshakeResponse:
    error_code: int = int16(default=0)
    mechanisms: Sequence[str] = array(string)
