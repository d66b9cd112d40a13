"""`simsuite report`: what a run or a sweep found, as one HTML file."""
