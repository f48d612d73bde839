"""ApiVersions (key 18), versions 0 to 4."""

from collections.abc import Sequence

from riverlog.protocol.schema import array, boolean, int16, int32, int64, message, string, struct


@message(key=18, versions="0-4", flexible="3+")
class ApiVersionsRequest:
    client_software_name: str = string("3+", default="")
    client_software_version: str = string("3+", default="")


@struct
class ApiVersion:
    api_key: int = int16()
    min_version: int = int16()
    max_version: int = int16()


@struct
class SupportedFeatureKey:
    name: str = string("3+", default="")
    min_version: int = int16("3+", default=0)
    max_version: int = int16("3+", default=0)


@struct
class FinalizedFeatureKey:
    name: str = string("3+", default="")
    max_version_level: int = int16("3+", default=0)
    min_version_level: int = int16("3+", default=0)


@message(key=18, versions="0-4", flexible="3+")
class ApiVersionsResponse:
    error_code: int = int16(default=0)
    api_keys: Sequence[ApiVersion] = array(ApiVersion)
    throttle_time_ms: int = int32("1+", default=0)
    supported_features: Sequence[SupportedFeatureKey] = array(
        SupportedFeatureKey, "3+", default=(), tag=0
    )
    finalized_features_epoch: int = int64("3+", default=-1, tag=1)
    finalized_features: Sequence[FinalizedFeatureKey] = array(
        FinalizedFeatureKey, "3+", default=(), tag=2
    )
    zk_migration_ready: bool = boolean("3+", default=False, tag=3)
