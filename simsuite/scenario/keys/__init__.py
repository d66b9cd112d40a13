"""What keys scenario files have: for editors, as a page, and key by key."""
