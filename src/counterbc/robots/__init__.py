"""Arms that policies drive: a fixed-rate loop with limits, a tracker and a simulated arm."""
