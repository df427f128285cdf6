from .elementwise import *
