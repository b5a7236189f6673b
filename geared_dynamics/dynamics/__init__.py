"""Model and arrays in, arrays out: the readable face of the kernels."""
