"""glax: a function is staged once into a frozen program, and every transformation is a rewrite of programs."""

from . import _running, interp, ir, lower, rewrite, tree, tree_util
from .lower import Array

__all__ = ["Array", "interp", "ir", "lower", "rewrite", "tree", "tree_util"]
