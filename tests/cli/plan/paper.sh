# The paper beside what is simulated from its devices.
weir plan --paper
