"""A trajectory file published once, when somebody listens and the arm is where it begins."""
