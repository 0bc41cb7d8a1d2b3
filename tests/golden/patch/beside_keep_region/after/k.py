a = 1
# VIBE-KEEP START secret
b = 2
# VIBE-KEEP END secret
c = 4
