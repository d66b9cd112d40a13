"""What pictures of a plate are made of: colours, outlines, fields, fluxes, materials, edges and curves over time."""
