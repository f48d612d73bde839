"""ApiVersions v0-4.

* A version we do not know is answered in version 0 with UNSUPPORTED_VERSION and our ranges, so
  that the client can ask again; every other API closes the connection instead.
* v3 adds the client's software name and version, which are not checked.
* No features are advertised yet, and no finalized-features epoch.
"""

from riverlog.kafka.apis import Apis, Context, Handler
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
)


def handler(apis: Apis) -> Handler:
    """Answers with the ranges of `apis` as they are when a client asks."""

    def handle(request: ApiVersionsRequest, context: Context) -> ApiVersionsResponse:
        return response(apis, ErrorCode.NONE)

    return handle


def response(apis: Apis, error_code: ErrorCode) -> ApiVersionsResponse:
    """Our ranges, in the order of the keys."""
    return ApiVersionsResponse(
        error_code=error_code,
        api_keys=[
            ApiVersion(api_key=key, min_version=api.first_advertised, max_version=api.last)
            for key, api in sorted(apis.items())
        ],
    )
