"""AlterUserScramCredentials (key 51), version 0."""

from collections.abc import Sequence

from riverlog.protocol.schema import array, data, int8, int16, int32, message, string, struct


@struct
class ScramCredentialDeletion:
    name: str = string()
    mechanism: int = int8()


@struct
class ScramCredentialUpsertion:
    name: str = string()
    mechanism: int = int8()
    iterations: int = int32()
    salt: bytes = data()
    salted_password: bytes = data()


@message(key=51, versions="0", flexible="0+")
class AlterUserScramCredentialsRequest:
    deletions: Sequence[ScramCredentialDeletion] = array(ScramCredentialDeletion)
    upsertions: Sequence[ScramCredentialUpsertion] = array(ScramCredentialUpsertion)


@struct
class AlterUserScramCredentialsResult:
    user: str = string()
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+", default=None)


@message(key=51, versions="0", flexible="0+")
class AlterUserScramCredentialsResponse:
    throttle_time_ms: int = int32(default=0)
    results: Sequence[AlterUserScramCredentialsResult] = array(AlterUserScramCredentialsResult)
