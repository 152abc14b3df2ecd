"""Studies of any methods on any data: grids, cells, workers, Ray, summaries and figures."""
