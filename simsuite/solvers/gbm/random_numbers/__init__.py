"""Random numbers of paths: Philox, normals, and which numbers each path has."""
