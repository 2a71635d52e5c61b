"""The lines of the frame, each in the file named after what it is about."""

from . import definitions, items, layers, schedule, signatures, site, whole

LINES = [m.LINE for m in (items, signatures, schedule, layers, definitions, site, whole)]
