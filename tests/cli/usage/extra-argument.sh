weir completion bash please
