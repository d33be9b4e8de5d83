"""How often the verdicts are right, where the truth is known: `python3 -m benchmarks.calibration`."""
