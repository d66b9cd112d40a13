"""What can be asked for of a run: single kinds of pictures, and sheets that are made of them."""
