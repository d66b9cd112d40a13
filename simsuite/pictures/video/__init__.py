"""Videos: ffmpeg takes frames as they are, and the page is drawn once. Of fields NumPy colours the frames, of panels
Matplotlib draws what moves."""
