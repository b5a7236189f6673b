"""Recordings through an observer: are its innovations white, is it consistent, what gains fit."""
