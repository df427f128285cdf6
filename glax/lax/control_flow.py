"""Structured control flow: choices and loops that are part of the program that is staged."""

from ._associative import associative_scan
from ._conditionals import cond, switch
from ._implicit import custom_linear_solve, custom_root
from ._loops import fori_loop, map, scan, while_loop

__all__ = ["associative_scan", "cond", "custom_linear_solve", "custom_root", "fori_loop", "map", "scan", "switch",
           "while_loop"]
