"""Speed, as ratios against other tools in the same run: `python3 -m benchmarks`."""
