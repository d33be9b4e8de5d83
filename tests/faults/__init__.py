"""Nothing breaks the count: kills, outages, full disks, wrong clocks, crowds and broken lines."""
