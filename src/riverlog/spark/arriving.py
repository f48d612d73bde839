"""How our objects travel to Spark's executors, which may lack what they are made of.

Where `riverlog` is missing nothing of ours could say so, and users would read it off the last line
of a long trace. So `arrive` travels as code, by value, and the object in it as bytes.
"""

import pickle
import sys
from collections.abc import Callable
from importlib import import_module
from platform import node
from typing import Any

from pyspark import cloudpickle

import riverlog

Arrival = tuple[Callable[..., object], tuple[str, str, str, bytes]]


def carried(traveller: Any) -> Arrival:  # of any class that has this as its `__reduce__`
    """What pickling has to keep of an object, as `__reduce__` gives it."""
    kind = type(traveller)
    state: bytes = cloudpickle.dumps(vars(traveller))
    return arrive, (kind.__module__, kind.__qualname__, riverlog.__version__, state)


def arrive(module: str, name: str, version: str, state: bytes) -> object:
    """The object again; raises `ImportError` with a sentence where it cannot be made."""
    here = f"the Python of the executor on {node()}, {sys.executable},"
    remedy = f"install riverlog[spark] {version} there"
    try:
        found = import_module("riverlog").__version__
        kind = getattr(import_module(module), name)
    except ImportError as error:
        raise ImportError(f"{here} has no {error.name}: {remedy}") from None
    if found != version:
        raise ImportError(f"{here} has riverlog {found} and the driver {version}: {remedy}")
    traveller: object = kind.__new__(kind)
    vars(traveller).update(pickle.loads(state))
    return traveller


# Everything else of ours is pickled by its name.
cloudpickle.register_pickle_by_value(sys.modules[__name__])
