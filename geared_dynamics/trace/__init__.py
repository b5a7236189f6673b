"""One symbolic run of the kernels: compiled functions of a model, exact derivatives, C."""
