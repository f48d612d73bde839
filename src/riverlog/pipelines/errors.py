"""Why a pipeline is not run, or did not end well; the message is the one line people are shown."""


class PipelineRefused(Exception):
    """The project, or what was asked of it, cannot be; mend it."""


class PipelineFailed(Exception):
    """It was run and did not succeed; trying again may help."""
