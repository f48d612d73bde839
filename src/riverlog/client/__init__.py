"""A small client, sync and async, for this broker and for every other that speaks the protocol.

`connect` and `connect_async` (as `riverlog.connect` too) are where to begin; `errors` says what
can go wrong. Everything here runs in one event loop; the sync client has one in a thread.
"""
