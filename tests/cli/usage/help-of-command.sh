weir help completion
