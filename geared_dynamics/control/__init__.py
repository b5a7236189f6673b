"""Control laws: model, gains, state and reference to commands; what is safe to send."""
