"""Parameters of an arm from recordings: base and physical ones, friction, gains, payload."""
