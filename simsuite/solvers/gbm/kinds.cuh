// What functionals.py calls Kind.
enum Kind {
  NOTHING,
  SUM,
  LOGARITHMS,
  LEAST,
  LARGEST,
  LOWEST,
  HIGHEST,
  SURVIVAL,
  WEIGHTED,
  NOISY,
  AT_LEAST,
  AT_LARGEST,
  SQUARES,
  LATEST,
  EXERCISED
};
