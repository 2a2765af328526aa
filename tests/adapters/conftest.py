"""Programs for processes of their own are no tests."""

collect_ignore = ["eight_devices.py"]
