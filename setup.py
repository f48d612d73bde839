"""Builds the C files. All else about the package stands in pyproject.toml.

The kernel is a plain shared library, loaded with ctypes: one build serves every Python of a
platform. Where there is no C compiler it is left out, and the fallback in Python does its work.
"""

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext


class BuildKernel(build_ext):
    """Gives the library a name that says nothing of a Python version."""

    def get_ext_filename(self, ext_name: str) -> str:
        return ext_name.replace(".", "/") + ".so"

    def get_export_symbols(self, ext: Extension) -> list[str]:
        return []


class TagForAnyPython(bdist_wheel):
    """A wheel for this platform, and for every Python 3."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


KERNEL = ("decode", "express", "express_replies", "common_produce")

setup(
    ext_modules=[
        Extension(
            "riverlog.kernel.decode",
            [f"src/riverlog/kernel/{name}.c" for name in KERNEL],
            depends=["src/riverlog/kernel/kernel.h", "src/riverlog/kernel/express.h"],
            extra_compile_args=["-O3", "-std=gnu11", "-fvisibility=hidden"],
            optional=True,
        )
    ],
    cmdclass={"build_ext": BuildKernel, "bdist_wheel": TagForAnyPython},
)
