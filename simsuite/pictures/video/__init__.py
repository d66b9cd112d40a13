"""Videos of fields: NumPy colours frames, ffmpeg takes them as they are, and the page around them is drawn once."""
