# VIBE-KEEP START secret
b = 2
# VIBE-KEEP END secret
c = 3
a = 1
