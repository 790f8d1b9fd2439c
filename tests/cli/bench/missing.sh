weir bench nowhere
