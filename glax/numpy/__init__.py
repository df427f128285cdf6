from . import _methods
from .arithmetic import *
from .logic import *
from .selection import where, clip, select, piecewise, nan_to_num
from .ufuncs import *
from .ufuncs import arcsin, arccos
