# No request in flight.
weir probe . --depth 0
