"""What a call costs on a device, counted without one: launches, bytes and the size of programs.

``python -m benchmarks.device`` counts all calls, and ``python -m benchmarks.device roc_auc`` those
of one name.
"""
