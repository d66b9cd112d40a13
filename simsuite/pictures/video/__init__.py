"""Videos of fields: frames are coloured by NumPy and handed to ffmpeg as they are; what does not change is drawn once."""
