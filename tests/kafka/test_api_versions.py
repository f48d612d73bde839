"""ApiVersions: ranges for those who say properly who they are."""

import pytest

from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.api_versions import ApiVersionsRequest
from tests.kafka.serving import serving


@pytest.mark.parametrize("version", range(5))
@pytest.mark.parametrize(
    ("name", "is_proper"),
    [
        ("apache-kafka-java", True),
        ("2.15.0", True),
        ("x", True),
        ("", False),
        ("-x", False),
        ("x.", False),
        ("two words", False),
        ("under_score", False),
        ("line\n", False),
        ("ä", False),
    ],
)
async def test_software_is_named_in_letters_and_digits(
    name: str, is_proper: bool, version: int
) -> None:
    async with serving() as running:
        for pair in ((name, "1"), ("x", name)):
            request = ApiVersionsRequest(
                client_software_name=pair[0], client_software_version=pair[1]
            )
            response = await running.ask(request, version)
            is_taken = is_proper or version < 3
            code = ErrorCode.NONE if is_taken else ErrorCode.INVALID_REQUEST
            assert response.error_code == code
            assert bool(response.api_keys) == is_taken
