"""When a number that is watched in the course of a run reaches a level: looks at it, and interpolation between them."""
