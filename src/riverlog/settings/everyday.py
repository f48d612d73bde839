"""The settings people meet first: where data are kept, who is listened to, what is told."""

from riverlog.config import Address, BrokerSettings
from riverlog.settings.kinds import address, boolean, choice, number, path
from riverlog.settings.setting import Setting, of

_GROUP = "everyday"

EVERYDAY = (
    Setting(
        _GROUP,
        "riverlog.data",
        path(),
        None,
        "Where topics are kept; made if missing.",
    ),
    Setting(
        _GROUP,
        "riverlog.listen",
        address(),
        Address("127.0.0.1", 9092),
        "Where clients are waited for; port 0 takes a free one. Loopback, because there is no "
        "password to keep others out.",
    ),
    Setting(
        _GROUP,
        "riverlog.advertise",
        address(),
        None,
        "The address clients are told to come back to, if it is not the one listened on.",
    ),
    Setting(
        _GROUP,
        "riverlog.log.level",
        choice("debug", "info", "warning", "error"),
        "info",
        "How much is told on standard error.",
    ),
    Setting(
        _GROUP,
        "riverlog.log.json",
        boolean(),
        False,
        "Tell it in JSON lines, for machines.",
    ),
    of(
        BrokerSettings,
        "num_partitions",
        _GROUP,
        "num.partitions",
        number(1, 100_000),
        "How many partitions a topic has that is made without saying how many. 4, because client "
        "libraries' own tests assume it.",
    ),
    of(
        BrokerSettings,
        "auto_create_topics",
        _GROUP,
        "auto.create.topics.enable",
        boolean(),
        "Make a topic when a client first asks for it by name, if the client allows it. On, "
        "because most first steps rely on it.",
        alias="--auto-create-topics",
    ),
)
