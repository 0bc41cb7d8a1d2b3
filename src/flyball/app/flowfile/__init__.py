"""Parse template and flow files into plain values with their line numbers."""
