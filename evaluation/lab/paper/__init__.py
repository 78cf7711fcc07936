"""Tables and texts for papers, from one label set and the analyses of the FIRE study."""
