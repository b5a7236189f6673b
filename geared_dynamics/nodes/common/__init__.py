"""What all nodes share: lifecycle, parameters, messages, timing, the process."""
