"""Random numbers of paths: Philox, normals, and which path has which numbers."""
