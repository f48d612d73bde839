"""ApiVersions v0-4.

* A version we do not know is answered in version 0 with UNSUPPORTED_VERSION and our ranges, so
  that the client can ask again; every other API closes the connection instead.
* v3 adds the client's software name and version: letters, digits, dots and dashes, the last two
  only inside; INVALID_REQUEST otherwise.
* No features are advertised yet, and no finalized-features epoch.
"""

import re

from riverlog.kafka.apis import Apis, Context, Handler
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
)

_SOFTWARE_FROM = 3
_WORD = re.compile("[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?")


def handler(apis: Apis) -> Handler:
    """Answers with the ranges of `apis` as they are when a client asks."""

    def handle(request: ApiVersionsRequest, context: Context) -> ApiVersionsResponse:
        software = (request.client_software_name, request.client_software_version)
        if context.version >= _SOFTWARE_FROM and not all(map(_WORD.fullmatch, software)):
            return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST, api_keys=[])
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
