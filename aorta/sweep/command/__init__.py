"""The trials that run a command: started, followed, ended for certain, and judged by what they left.

``CommandRunner`` (``execute``) does one trial; ``catalogue`` lists what is looked for.
"""
