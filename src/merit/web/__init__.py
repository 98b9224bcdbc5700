"""The page and the JSON API over one agent and over run folders: one server for `merit serve` and `merit view`."""
