# Lists that multiply.
all=$(seq -s, 1 40)
weir probe . --depth "$all" --threads "$all"
