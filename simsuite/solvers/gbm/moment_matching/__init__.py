"""Moment matching: normals of a group of paths that have the moments of their law."""
