"""The benchmarks: what the library costs beside a bare sort of the scores, and beside its peers.

``python -m benchmarks --help`` tells what can be run; ``docs/benchmarks.md`` holds the results.
"""
