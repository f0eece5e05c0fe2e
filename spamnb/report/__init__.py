"""Tables, figures and pages for people."""
