"""American options: when they are exercised, learnt by regression over paths of their own."""
