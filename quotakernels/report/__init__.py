"""One HTML page that tells which model should fill a quota: `quotakernels report`.

It needs the packages of the `report` extra; importing this package imports none of them.
"""
