"""The formulas of the models. They take arrays and return arrays, and use neither mail nor files."""
