"""What somebody beside a run sees of it: how it stands, and its newest results, read without the run noticing."""
