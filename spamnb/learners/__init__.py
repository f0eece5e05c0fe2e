"""The kinds of mail model: what each does with messages, on the one model file."""
