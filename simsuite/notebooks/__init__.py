"""What notebooks show: a run as a short table with its picture, and a line on how far it is."""
