"""Collectors of outside plugins, run in a process of their own.

Whatever native code, a plugin's own mistakes or its daemons do there, this process goes on: the child
holds the plugin's code alone, and asks this one every question of its ``Context`` over a socket. A
capture without outside plugins imports ``lost`` alone.
"""
