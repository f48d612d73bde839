"""DescribeUserScramCredentials (key 50), version 0."""

from collections.abc import Sequence

from riverlog.protocol.schema import array, int8, int16, int32, message, string, struct


@struct
class UserName:
    name: str = string()


@message(key=50, versions="0", flexible="0+")
class DescribeUserScramCredentialsRequest:
    users: Sequence[UserName] | None = array(UserName, nullable="0+")


@struct
class CredentialInfo:
    mechanism: int = int8()
    iterations: int = int32()


@struct
class DescribeUserScramCredentialsResult:
    user: str = string()
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+", default=None)
    credential_infos: Sequence[CredentialInfo] = array(CredentialInfo)


@message(key=50, versions="0", flexible="0+")
class DescribeUserScramCredentialsResponse:
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+", default=None)
    results: Sequence[DescribeUserScramCredentialsResult] = array(
        DescribeUserScramCredentialsResult
    )
