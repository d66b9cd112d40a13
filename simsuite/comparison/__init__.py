"""Two runs side by side, or a run and the file of another program: `arrays` reads them, `differences` compares."""
