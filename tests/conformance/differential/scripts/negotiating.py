"""ApiVersions."""

import struct

from riverlog.kafka.apis import served
from riverlog.protocol.api_keys import ApiKey
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.api_versions import ApiVersionsRequest
from tests.conformance.differential.conversation import Conversation
from tests.conformance.differential.fields import Fields, fields_of
from tests.conformance.differential.script import script

API_VERSIONS = ApiKey.API_VERSIONS


@script(API_VERSIONS)
def ranges_of_what_we_serve(talk: Conversation) -> None:
    request = ApiVersionsRequest(client_software_name="raw", client_software_version="1.0")
    reply = talk.look(request, talk.version)
    ours = served()
    reply.api_keys = [one for one in reply.api_keys if one.api_key in ours]
    talk.write_down("ranges", fields_of(reply, talk.version))


@script(API_VERSIONS, first=3)
def software_names_that_cannot_be(talk: Conversation) -> None:
    wrong = ("", "with space", "-dash", "dash-", "under_score", "line\n")
    for name, version in [*((word, "1") for word in wrong), *(("raw", word) for word in wrong)]:
        request = ApiVersionsRequest(client_software_name=name, client_software_version=version)
        reply = talk.look(request, talk.version)
        code = ErrorCode(reply.error_code).name
        told: Fields = {"error_code": code, "has keys": bool(reply.api_keys)}
        talk.write_down(f"{name!r} {version!r}", told)


@script(API_VERSIONS, first=4)
def a_version_from_the_future(talk: Conversation) -> None:
    talk.send_frame(struct.pack(">hhih", API_VERSIONS, 99, 7, 3) + b"new" + bytes(30))
    frame = talk.receive_frame()
    assert frame is not None
    _, error_code, count = struct.unpack_from(">ihi", frame)
    ranges = {key: (first, last) for key, first, last in struct.iter_unpack(">hhh", frame[10:])}
    told = {"error_code": error_code, "has ranges": count > 0}
    talk.write_down("v99", {**told, "its own range": ranges[API_VERSIONS]})


@script(API_VERSIONS, first=4)
def frames_that_make_no_sense_close_the_connection(talk: Conversation) -> None:
    metadata = struct.pack(">hhih", ApiKey.METADATA, 8, 7, -1)
    frames = {
        "unknown api": struct.pack(">hhih", 999, 0, 7, -1) + bytes(20),
        "negative api": struct.pack(">hhih", -1, 0, 7, -1) + bytes(20),
        "no body": metadata,
        "a cut body": metadata + b"\0\0\0\5\0",
        "more topics than bytes": metadata + b"\x7f\xff\xff\xff" + bytes(3),
        "a null where none may be": struct.pack(">hhih", ApiKey.CREATE_TOPICS, 2, 7, -1)
        + b"\xff" * 4 + bytes(5),
        "a header cut short": b"\0\3\0",
    }  # fmt: skip
    for step, frame in frames.items():
        talk.send_frame(frame)
        talk.write_down(step, {"closes": talk.receive_frame() is None})
