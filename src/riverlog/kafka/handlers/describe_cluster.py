"""DescribeCluster v0-2.

* v1 lets clients ask for controllers or for brokers; this door is a broker's, and says so to
  those who want the other.
* v2 adds whether a broker is fenced; the one there is answers, so it is not.
* There is no authorization: everybody may do everything.
"""

from riverlog.kafka.apis import Context
from riverlog.kafka.authorized_operations import ALL_OF_CLUSTER, NOT_ASKED
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

_BROKERS = 1
_CONTROLLERS = 2


def handle(request: DescribeClusterRequest, context: Context) -> DescribeClusterResponse:
    if request.endpoint_type == _CONTROLLERS:
        return _refused(
            ErrorCode.MISMATCHED_ENDPOINT_TYPE,
            "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of "
            "type CONTROLLER",
        )
    if request.endpoint_type != _BROKERS:
        return _refused(
            ErrorCode.UNSUPPORTED_ENDPOINT_TYPE,
            f"Unsupported endpoint type {request.endpoint_type}",
        )
    broker = context.broker
    return DescribeClusterResponse(
        cluster_id=broker.cluster_id,
        controller_id=broker.node_id,
        brokers=[
            DescribeClusterBroker(
                broker_id=broker.node_id,
                host=context.advertised.host,
                port=context.advertised.port,
            )
        ],
        cluster_authorized_operations=ALL_OF_CLUSTER
        if request.include_cluster_authorized_operations
        else NOT_ASKED,
    )


def _refused(error: ErrorCode, message: str) -> DescribeClusterResponse:
    return DescribeClusterResponse(
        error_code=error, error_message=message, cluster_id="", brokers=[]
    )
