"""The declaration: every setting of a broker, in the order in which people are shown them."""

from riverlog.settings.client_limits import CLIENT_LIMITS
from riverlog.settings.everyday import EVERYDAY
from riverlog.settings.groups import GROUPS
from riverlog.settings.setting import Setting
from riverlog.settings.topic_defaults import TOPIC_DEFAULTS

DECLARED: dict[str, Setting] = {
    setting.name: setting for setting in (*EVERYDAY, *TOPIC_DEFAULTS, *GROUPS, *CLIENT_LIMITS)
}
