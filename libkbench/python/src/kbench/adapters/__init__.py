"""kbench in the forms that training frameworks ask for: one module for each. docs/training.md."""
