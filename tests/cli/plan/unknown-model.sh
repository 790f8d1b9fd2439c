# A model that is not in the table.
weir plan --model gpt
