"""Structured control flow: choices and loops that are part of the program that is staged."""

from ._associative import associative_scan
from ._conditionals import cond, switch
from ._loops import fori_loop, map, scan, while_loop

__all__ = ["associative_scan", "cond", "fori_loop", "map", "scan", "switch", "while_loop"]
