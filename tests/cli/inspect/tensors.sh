# Tensors have one shape and one size; verifying reads them.
weir gen tensors d -n 12 -q >/dev/null
weir inspect d --verify
