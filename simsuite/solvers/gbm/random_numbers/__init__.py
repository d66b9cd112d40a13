"""Random numbers of paths: Philox, normals, which path has which numbers, moment matching."""
