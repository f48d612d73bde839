"""Riverlog beside other brokers: one driver, equal durability, and a page of it.

A file for each peer says how it is found, started and spoken to. `variants.py` lists who takes
part, `visits.py` what is measured of each, `page.py` what is made of it.
"""
