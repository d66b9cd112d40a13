// What functionals.py calls Kind.
enum Kind { NOTHING, SUM, LOGARITHMS, LEAST, LARGEST, LOWEST, HIGHEST, SURVIVAL };
